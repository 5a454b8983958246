"""Every block is normalised by itself."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "Each of your blocks sums to 1 by itself, so a long row sums to the number of its blocks. Maximum "
    "and sum are those of the whole row: carry both from block to block."
)
FAILS = ("test_a_row_may_be_longer_than_a_block", "test_each_element_is_read_at_most_twice")
SYMPTOMS = ("softmax_over_blocks",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "over_blocks")
