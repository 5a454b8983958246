"""The input is converted to fp32 in memory first."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "You convert x to fp32 in memory before the kernel runs: a temporary of twice its size, written "
    "and read for nothing. Convert each block in the kernel, after its load."
)
FAILS = ("test_each_element_is_read_at_most_twice",)
SYMPTOMS = ("softmax_temporary",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x.float()).to(x.dtype)
