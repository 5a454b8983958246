"""Every tile is divided by the sum so far."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "You divide every tile's product by the sum so far, and what earlier tiles gave was divided by a "
    "smaller one. Divide once, after the loop."
)
FAILS = ("test_rescales_when_the_running_maximum_grows",)
SYMPTOMS = ("divided_in_the_loop",)
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
    return run(q, k, v, causal, scale, "divided_in_the_loop")
