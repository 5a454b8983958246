"""A part without keys gives NaN."""

from torch import Tensor

from ._decode import run

EXERCISE = "flash_decode"
HINT = (
    "With few keys some parts are empty: 0 / 0 is NaN, and so is a maximum of −inf less itself. An "
    "empty part has output 0 and lse −inf, and then weighs nothing."
)
FAILS = ("test_every_key_is_in_one_part",)
SYMPTOMS = ("empty_part_nan",)
ALSO = ()


def flash_decode(
    q: Tensor, k: Tensor, v: Tensor, splits: int = 8, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, splits, scale, "empty_part_nan")
