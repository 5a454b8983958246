"""The row is divided by the mean square, not by its root."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "You divide by the mean square itself: twice the row gives half the result, where it should give "
    "the same. Take the root."
)
FAILS = (
    "test_every_row_is_divided_by_its_own_root",
    "test_a_width_need_not_be_a_power_of_two",
    "test_epsilon_is_inside_the_root",
    "test_rows_may_lie_apart",
)
SYMPTOMS = ("root_forgotten",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "root_forgotten")
