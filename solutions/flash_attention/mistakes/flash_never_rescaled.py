"""Neither the sum nor the accumulator is rescaled."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "Neither your sum nor your accumulator shrinks when the running maximum grows: multiply both by "
    "exp(old maximum − new maximum) before you add a tile."
)
FAILS = ("test_rescales_when_the_running_maximum_grows",)
SYMPTOMS = ("never_rescaled",)
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
    return run(q, k, v, causal, scale, "never_rescaled")
