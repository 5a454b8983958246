"""The running sum is not rescaled."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "Your running maximum grows from block to block, but the sum so far still holds exponentials "
    "relative to the old one. Shrink it by exp(old maximum − new maximum) before you add."
)
FAILS = ("test_a_row_may_be_longer_than_a_block",)
SYMPTOMS = ("sum_not_rescaled",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "sum_not_rescaled")
