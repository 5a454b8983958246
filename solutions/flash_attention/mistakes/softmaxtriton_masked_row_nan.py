"""A row of −inf gives NaN."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "A row that is −inf throughout has −inf for its maximum: −inf − (−inf) is NaN, and so is 0 / 0. "
    "Both the subtraction and the division need a value of their own for such a row, or for a block "
    "at its beginning."
)
FAILS = ("test_a_masked_row_gives_zeros",)
SYMPTOMS = ("softmax_of_masked_row_nan",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "masked_row_nan")
