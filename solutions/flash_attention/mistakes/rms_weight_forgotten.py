"""The weight is not multiplied in."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "Your rows have the right direction, but every column keeps its size: each one is still to be "
    "multiplied by its own weight."
)
FAILS = (
    "test_every_row_is_divided_by_its_own_root",
    "test_a_width_need_not_be_a_power_of_two",
    "test_epsilon_is_inside_the_root",
    "test_rows_may_lie_apart",
)
SYMPTOMS = ("weight_forgotten",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "weight_forgotten")
