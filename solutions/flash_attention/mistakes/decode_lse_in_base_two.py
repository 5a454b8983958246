"""lse is a logarithm to base two."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "Your lse is a base-2 logarithm: with log2(e) folded into the scale all statistics are in units "
    "of log 2. Convert once, at the end of the merge."
)
FAILS = ("test_parts_are_weighted_by_their_logsumexp", "test_every_key_is_in_one_part")
SYMPTOMS = ("lse_in_base_two",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "lse_in_base_two")
