"""The lanes beyond the row are loaded as 0."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "Your masked lanes hold 0, and exp(0 − m) of each is counted in the sum; where all scores are "
    "negative 0 is the maximum as well. Those lanes need a score whose exponential is 0."
)
FAILS = ("test_a_row_is_exponentiated_and_divided", "test_softmax_takes_any_strides_and_formats")
SYMPTOMS = ("padding_counted",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "padding_counted")
