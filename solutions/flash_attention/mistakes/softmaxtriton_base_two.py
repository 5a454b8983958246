"""The exponential has base two."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = "Your weights are powers of 2, not of e. exp2(x) is exp(x · ln 2): the missing factor is log2(e)."
FAILS = (
    "test_a_row_is_exponentiated_and_divided",
    "test_a_row_may_be_longer_than_a_block",
    "test_softmax_takes_any_strides_and_formats",
)
SYMPTOMS = ("base_two",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "base_two")
