"""Tiles on the diagonal are not masked."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = (
    "You skip the tiles to the right of the diagonal, but in the tiles that it crosses every key "
    "counts: mask those by rows and columns."
)
FAILS = ("test_a_query_sees_itself_and_what_came_before",)
SYMPTOMS = ("not_masked",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "not_masked")
