"""The scale that is given is ignored."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = "You always use 1/√D: where `scale` is given, it takes its place."
FAILS = ("test_parts_are_weighted_by_their_logsumexp",)
SYMPTOMS = ("scale_ignored",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, None)
