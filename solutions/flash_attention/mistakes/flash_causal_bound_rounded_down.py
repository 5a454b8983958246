"""The causal loop ends one tile early."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = (
    "Your loop over the keys ends at a bound that was rounded down: the tile on the diagonal is left "
    "out for some queries. Round it up."
)
FAILS = ("test_the_last_tile_of_keys_is_not_forgotten",)
SYMPTOMS = ("causal_bound_rounded_down",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "causal_bound_rounded_down")
