"""lse is that of the largest part."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "Your lse is the largest of the parts'. The whole sum is the sum of all parts' sums: subtract the "
    "largest lse, exponentiate, add, and take the logarithm."
)
FAILS = ("test_parts_are_weighted_by_their_logsumexp",)
SYMPTOMS = ("lse_of_largest_part",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "lse_of_largest_part")
