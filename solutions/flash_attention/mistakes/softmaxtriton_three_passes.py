"""The row is read three times."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "You read the row once for the maximum, once for the sum, and once for the result. The running "
    "maximum and the running sum fit into one pass."
)
FAILS = ("test_each_element_is_read_at_most_twice",)
SYMPTOMS = ("three_passes",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "three_passes")
