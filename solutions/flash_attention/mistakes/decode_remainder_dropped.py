"""The keys that the parts leave over are dropped."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "Your parts have T // splits keys each, and the remainder is in none of them. Round up, and let "
    "the last part be shorter."
)
FAILS = ("test_every_key_is_in_one_part",)
SYMPTOMS = ("remainder_dropped",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "remainder_dropped")
