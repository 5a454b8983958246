"""The columns are taken to be neighbours."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "You take the elements of a row to be neighbours in memory. In a transposed view they lie a "
    "stride apart: pass it to the kernel beside the row's."
)
FAILS = ("test_softmax_takes_any_strides_and_formats",)
SYMPTOMS = ("strides_ignored",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, column_stride=1)
