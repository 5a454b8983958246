"""No maximum is subtracted."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "exp of a score above 88.7 is infinite in fp32, and a row far below 0 sums to nothing. Subtract the "
    "row's maximum first: it cancels in the division."
)
FAILS = ("test_large_scores_do_not_overflow",)
SYMPTOMS = ("softmax_without_maximum",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, "no_maximum")
