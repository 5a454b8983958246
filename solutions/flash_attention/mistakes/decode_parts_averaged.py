"""The parts are averaged."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "You average the parts' outputs. A part counts as much as its keys' exponentials sum to, and its "
    "logsumexp says how much that is."
)
FAILS = ("test_parts_are_weighted_by_their_logsumexp", "test_every_key_is_in_one_part")
SYMPTOMS = ("parts_averaged",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "parts_averaged")
