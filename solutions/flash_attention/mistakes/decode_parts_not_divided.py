"""The parts are merged before they are divided."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "You weigh the parts by their maximum alone: the sum of a part belongs to its weight, or its "
    "output is to be left undivided and the sums merged with it."
)
FAILS = ("test_parts_are_weighted_by_their_logsumexp", "test_every_key_is_in_one_part")
SYMPTOMS = ("parts_not_divided",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "parts_not_divided")
