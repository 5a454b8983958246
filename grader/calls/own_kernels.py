"""Whether a submission's own kernels did the work of a call: the exercises in Triton earn nothing by PyTorch's."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from grader.calls.faults import KernelFinding
from grader.kernels.evidence import CallEvidence

# What does a whole exercise, or the heavy part of one. Host code may scale, reshape, allocate, merge as it likes.
_WHOLE_WORK = frozenset(
    {
        "_fused_rms_norm",
        "_log_softmax",
        "_safe_softmax",
        "_softmax",
        "addbmm",
        "addmm",
        "baddbmm",
        "bmm",
        "dot",
        "logsumexp",
        "matmul",
        "mm",
        "mv",
        "native_layer_norm",
        "rms_norm",
        "softmax",
    }
)
_TABLE_BYTES = 256
"""Of pointers, offsets or slopes: 32 numbers. The least result of a check has as many."""
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

    PyTorch, or numpy: then the call takes half its result from outside, where a kernel needs a table at most.

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
    outside, result = evidence.torch.outside_bytes, sum(_bytes_in(value))
    if outside > max(_TABLE_BYTES, result // 2):
        text = (
            f"{function} takes {outside:,} bytes from outside of PyTorch, as arrays, lists and files have them, and "
            f"returns {result:,}: the work belongs into your kernel; a table is made with PyTorch, as torch.arange does"
        )
        return KernelFinding(
            text,
            symptom="kernel.outside",
            hidden_message=f"{function} takes most of its result from outside of PyTorch",
        )
    return None


def library_work(ops: Iterable[str]) -> list[str]:
    """Which of PyTorch's operations, named `aten.bmm.default` and so on, do what a kernel is to do."""
    names = (name.removeprefix("aten.").partition(".")[0] for name in ops if name.startswith("aten."))
    return sorted({name for name in names if name in _WHOLE_WORK or name.startswith(_ATTENTION)})


def _bytes_in(value: Any) -> Iterator[int]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _bytes_in(each)
    elif isinstance(getattr(value, "nbytes", None), int):
        yield value.nbytes


def _is_empty(value: Any) -> bool:
    count = getattr(value, "numel", None)
    return callable(count) and count() == 0
