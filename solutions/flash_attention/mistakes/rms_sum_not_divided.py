"""The sum of squares is not divided."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "Under your root stands the sum of squares. It has to be their mean: the result then does not "
    "depend on how wide the row is."
)
FAILS = (
    "test_every_row_is_divided_by_its_own_root",
    "test_a_width_need_not_be_a_power_of_two",
    "test_epsilon_is_inside_the_root",
    "test_rows_may_lie_apart",
)
SYMPTOMS = ("sum_not_divided",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "sum_not_divided")
