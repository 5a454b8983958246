"""Who did the work of a call: kernels, PyTorch beside them, or Python, which brings the answer."""

from typing import Any

import pytest
import torch

from grader.calls.own_kernels import done_by_torch
from grader.kernels.evidence import CallEvidence, Launch, TorchWork

X = torch.zeros(64, 32)  # 2,048 elements, 8,192 bytes


def fault(verb: str = "call", launched: bool = True, args: tuple[Any, ...] = (X,), **work: Any) -> str:
    """The symptom and the message of a call that returns a tensor like X; empty for none."""
    launches = (Launch(kernel="k", grid=(1,)),) if launched else ()
    found = done_by_torch("f", verb, args, {}, X, CallEvidence(launches=launches, torch=TorchWork(**work)))
    return "" if found is None else f"{found.symptom} {found.message}"


def test_a_kernel_must_have_run() -> None:
    assert fault() == ""
    assert fault(launched=False).startswith("kernel.none_launched f launched no Triton kernel")


def test_an_empty_input_needs_none() -> None:
    assert fault(launched=False, args=(torch.zeros(0),)) == ""


@pytest.mark.parametrize(("verb", "symptom"), [("call", "kernel.library"), ("gradients", "")])
def test_a_gradient_may_be_pytorchs_own(verb: str, symptom: str) -> None:
    assert fault(verb, ops={"aten.mm": 1}).startswith(symptom)
    assert fault(verb, computed_elements=10**6).startswith(symptom)


def test_pytorch_may_scale_what_comes_in_and_not_more() -> None:
    """As many elements as come in and go out, 4,096 here."""
    assert fault(computed_elements=4096) == ""
    message = fault(computed_elements=4097, ops={"aten.empty": 1, "aten.exp_": 2})
    assert "PyTorch computes 4,097 elements in f beside its kernels (exp_), and 4,096 come in" in message


def test_parts_that_kernels_made_may_be_merged() -> None:
    """64 times what goes out."""
    assert fault(merged_elements=64 * 2048) == ""
    assert fault(merged_elements=64 * 2048 + 1).startswith("kernel.library")


@pytest.mark.parametrize(
    "operation",
    ["aten.bmm.default", "aten.addmm_", "aten.addmv", "aten._int_mm", "mkldnn._linear_pointwise", "mm"],
)
def test_a_product_is_known_under_any_name(operation: str) -> None:
    """In place, with another beginning, of another namespace."""
    assert fault(ops={operation: 1}).startswith("kernel.library f leaves the work to PyTorch")
    assert fault(ops={"aten.lgamma": 1, "aten.mul_": 3, "Tensor.tolist": 1}) == ""


def test_python_may_bring_a_table_and_not_a_result() -> None:
    """A quarter of the result, 2,048 bytes; 1,024 bytes of different numbers count as sizes and constants."""
    assert fault(outside_bytes=2048, brought_bytes=1024) == ""
    assert fault(outside_bytes=2048, brought_bytes=1025).startswith(
        "kernel.outside f takes 2,049 bytes from outside"
    )
    assert fault("gradients", outside_bytes=2049).startswith("kernel.outside")
