"""The accumulator is overwritten by every tile."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = "Your accumulator holds the last tile's product only: add to it, acc = acc · correction + P·V."
FAILS = ("test_every_key_counts_wherever_it_stands",)
SYMPTOMS = ("accumulator_overwritten", "last_tile_only")
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
    return run(q, k, v, causal, scale, "last_tile_only")
