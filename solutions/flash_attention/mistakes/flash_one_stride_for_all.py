"""K and V are addressed with Q's strides."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_gqa"
HINT = "You address k and v with q's strides. Each tensor has its own."
FAILS = ("test_any_strides_are_taken",)
SYMPTOMS = ("one_stride_for_all", "kernel.out_of_bounds_load")
ALSO = ("flash_forward_shapes",)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, strides_of=(q, q, q))
