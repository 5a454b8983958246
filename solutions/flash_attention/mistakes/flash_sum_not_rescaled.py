"""The accumulator is rescaled, the sum is not."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "Your accumulator is rescaled when the maximum grows, your sum l is not: l = l · correction + the "
    "tile's sum."
)
FAILS = ("test_rescales_when_the_running_maximum_grows",)
SYMPTOMS = ("sum_not_rescaled",)
ALSO = (
    "flash_forward_shapes",
    "flash_forward_half",
    "flash_forward_causal",
    "flash_forward_gqa",
    "efficiency",
)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "sum_not_rescaled")
