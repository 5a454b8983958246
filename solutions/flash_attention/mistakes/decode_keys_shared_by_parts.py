"""Parts overlap by the rest of a tile."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "A part of yours ends within a tile, and the rest of that tile, which belongs to the next part, "
    "is counted in both. Mask at the part's end, or make parts of whole tiles."
)
FAILS = ("test_every_key_is_in_one_part",)
SYMPTOMS = ("keys_shared_by_parts",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "keys_shared_by_parts")
