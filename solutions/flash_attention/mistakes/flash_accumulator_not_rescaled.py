"""The sum is rescaled, the accumulator is not."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "Your sum l is rescaled when the maximum grows, your accumulator is not: both hold exponentials "
    "relative to the old maximum. acc = acc · correction + P·V."
)
FAILS = ("test_rescales_when_the_running_maximum_grows",)
SYMPTOMS = ("accumulator_not_rescaled",)
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
    return run(q, k, v, causal, scale, "accumulator_not_rescaled")
