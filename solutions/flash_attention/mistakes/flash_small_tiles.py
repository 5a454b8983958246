"""Tiles of 16 queries."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    "With 32 queries a tile or fewer, K and V are read ⌈T/32⌉ times, twice as often as with 64: give a "
    "program more rows."
)
FAILS = ("test_few_bytes_are_moved",)
SYMPTOMS = ("keys_loaded_too_often",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, rows=32, cols=128)
