"""The parts are added."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "You add the parts' outputs, each of which is normalised already. Weigh each one by its share of "
    "the whole sum."
)
FAILS = ("test_parts_are_weighted_by_their_logsumexp", "test_every_key_is_in_one_part")
SYMPTOMS = ("parts_added",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "parts_added")
