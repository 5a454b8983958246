"""The sum of squares is divided by the block."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "You divide the sum of squares by BLOCK, the lanes that the program has. The mean is over the "
    "row's own elements, and those are `width`."
)
FAILS = ("test_a_width_need_not_be_a_power_of_two", "test_any_rows_are_normalised")
SYMPTOMS = ("divided_by_block",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "divided_by_block")
