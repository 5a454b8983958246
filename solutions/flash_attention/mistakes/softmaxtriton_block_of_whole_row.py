"""One block holds the whole row."""

from torch import Tensor

from ._norms import run_softmax

EXERCISE = "softmax_triton"
HINT = (
    "Your block is as long as the row: at 50,000 columns a thread would hold hundreds of elements, "
    "and they spill from its registers. Go through the row in blocks of a few thousand at most."
)
FAILS = ("test_a_wide_row_fits_an_h100",)
SYMPTOMS = ("block_of_whole_row",)
ALSO = ()


def softmax_triton(x: Tensor) -> Tensor:
    """Wrong: see the module."""
    return run_softmax(x, longest=1 << 20)
