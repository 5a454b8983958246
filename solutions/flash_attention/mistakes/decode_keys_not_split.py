"""The keys are not split."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "One program goes through all keys of a head, whatever `splits` is, and most SMs have nothing to "
    "do. Give every part of the keys a program."
)
FAILS = ("test_the_keys_are_split_over_programs",)
SYMPTOMS = ("keys_not_split",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, 1, scale)
