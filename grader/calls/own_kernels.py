"""Whether a submission's own kernels did the work of a call: the exercises in Triton earn nothing by PyTorch's."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from grader.calls.faults import KernelFinding
from grader.kernels.evidence import CallEvidence
from grader.kernels.moves import MOVES

if TYPE_CHECKING:
    import torch

# What does a whole exercise, or the heavy part of one. Host code may scale, reshape, allocate, merge as it likes.
_WHOLE_WORK = frozenset(
    {
        "_addmm_activation",
        "_cdist_forward",
        "_fused_rms_norm",
        "_log_softmax",
        "_masked_softmax",
        "_safe_softmax",
        "_softmax",
        "_trilinear",
        "addbmm",
        "addr",
        "bilinear",
        "convolution",
        "einsum",
        "linear",
        "logsumexp",
        "matmul",
        "native_batch_norm",
        "native_group_norm",
        "native_layer_norm",
        "outer",
        "rms_norm",
        "softmax",
    }
)
_PRODUCTS = ("mm", "mv", "dot", "_linear_pointwise", "_convolution", "_conv")
"""How the names of the other products of matrices end: bmm, addmm, _int_mm, addmv, vdot."""
_TABLE_BYTES = 256
"""Of pointers, offsets or slopes: 32 numbers. The least result of a check has as many."""
_NUMBERS_BYTES = 1024
"""Of sizes, strides, scales and constants: 128 different numbers."""
_MOST_COMPUTED = 1
"""Elements of PyTorch's arithmetic beside the kernels, over those that come in and go out: queries that are scaled,
the products whose sums are delta."""
_MOST_MERGED = 64
"""The same of arithmetic on what kernels made, over those that go out: eight parts, weighted and added up."""
_ATTENTION = (
    "_scaled_dot_product",
    "scaled_dot_product",
    "_flash_attention",
    "_efficient_attention",
    "flex_attention",
)


def done_by_torch(
    function: str,
    verb: str,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    value: Any,
    evidence: CallEvidence,
) -> KernelFinding | None:
    """The fault of a call in which no kernel ran, or in which somebody else did what the kernel is to do.

    A gradient may be PyTorch's own: a forward kernel must have run. Empty inputs need no kernel. The evidence is
    measured beside the submission's code.
    """
    if any(_is_empty(each) for each in (*args, *kwargs.values())):
        return None
    if not any(launch.config_index == 0 for launch in evidence.launches):
        text = f"{function} launched no Triton kernel: PyTorch did the work, and the exercise is to write the kernel"
        return KernelFinding(text, symptom="kernel.none_launched")
    by_torch = library_work(evidence.torch.ops) if verb == "call" else []
    if by_torch:
        text = f"{function} leaves the work to PyTorch: {', '.join(by_torch)}; it belongs into your kernel"
        return KernelFinding(text, symptom="kernel.library")
    computed = (
        _computed_by_torch(function, (*args, *kwargs.values(), value), evidence) if verb == "call" else None
    )
    return computed or _brought_by_python(function, value, evidence)


def _computed_by_torch(
    function: str, tensors: tuple[Any, ...], evidence: CallEvidence
) -> KernelFinding | None:
    """The fault of a call in which PyTorch computes too much for what comes in and goes out, the `tensors`."""
    work = evidence.torch
    *given, value = tensors
    returned = sum(each.numel() for each in _tensors_in(value))
    most = _MOST_COMPUTED * (returned + sum(each.numel() for each in _tensors_in(given)))
    if work.computed_elements > most or work.merged_elements > _MOST_MERGED * returned:
        named = ", ".join(sorted(name for name in map(_base, work.ops) if name not in MOVES)[:8])
        text = (
            f"PyTorch computes {work.computed_elements + work.merged_elements:,} elements in {function} beside its "
            f"kernels ({named}), and {most:,} come in and go out: the work belongs into your kernel"
        )
        hidden = f"in {function} PyTorch computes what the kernels are to compute"
        return KernelFinding(text, symptom="kernel.library", hidden_message=hidden)
    return None


def _brought_by_python(function: str, value: Any, evidence: CallEvidence) -> KernelFinding | None:
    """The fault of a call that gets most of its result from Python, numpy's arrays among it."""
    work = evidence.torch
    outside = work.outside_bytes + max(0, work.brought_bytes - _NUMBERS_BYTES)
    result = sum(each.nbytes for each in _tensors_in(value))
    outside += sum(each.nbytes for each in _inside(value) if _is_a(each, "numpy", "ndarray"))
    if outside > max(_TABLE_BYTES, result // 4):
        text = (
            f"{function} takes {outside:,} bytes from outside of PyTorch, as arrays, lists, files and operators of "
            f"your own have them, and returns {result:,}: the work belongs into your kernel; allocate with "
            "torch.empty, and make a table with PyTorch, as torch.arange does"
        )
        return KernelFinding(
            text,
            symptom="kernel.outside",
            hidden_message=f"{function} takes most of its result from outside of PyTorch",
        )
    return None


def library_work(ops: Iterable[str]) -> list[str]:
    """Which of PyTorch's operations, named `aten.bmm.default` and so on, do what a kernel is to do."""
    return sorted(base for base in set(map(_base, ops)) if _is_whole_work(base.removesuffix("_")))


def _base(name: str) -> str:
    """`bmm` of `aten.bmm.default`."""
    return name.split(".")[min(1, name.count("."))]


def _is_whole_work(base: str) -> bool:
    return base in _WHOLE_WORK or base.endswith(_PRODUCTS) or base.startswith(_ATTENTION)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _inside(each)
    else:
        yield value


def _tensors_in(value: Any) -> "Iterator[torch.Tensor]":
    return (each for each in _inside(value) if _is_a(each, "torch", "Tensor"))


def _is_a(value: object, module: str, name: str) -> bool:
    """Whether it is an instance of a library's class; the library is not imported for the question."""
    library = sys.modules.get(module)
    return library is not None and isinstance(value, getattr(library, name))


def _is_empty(value: Any) -> bool:
    count = getattr(value, "numel", None)
    return callable(count) and count() == 0
