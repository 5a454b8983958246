"""The causal loop visits every tile of keys."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    "Your causal loop visits all tiles and masks what lies right of the diagonal: half of the work "
    "for nothing. End the loop at the last key that the tile's last query sees."
)
FAILS = ("test_causal_skips_the_tiles_that_nobody_sees",)
SYMPTOMS = ("whole_square",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "whole_square")
