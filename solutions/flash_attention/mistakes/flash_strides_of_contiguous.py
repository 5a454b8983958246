"""The strides of a contiguous tensor are assumed."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_gqa"
HINT = (
    "You compute addresses as if the tensors were contiguous, or use one stride for all three. Pass "
    "q.stride(), k.stride() and v.stride(), all four of each."
)
FAILS = ("test_any_strides_are_taken",)
SYMPTOMS = ("strides_of_contiguous", "kernel.out_of_bounds_load")
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    import torch

    plain = tuple(torch.empty(x.shape, device="meta") for x in (q, k, v))
    return run(q, k, v, causal, scale, strides_of=plain)
