"""The lanes beyond the row are stored."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "You mask the load but not the store: the lanes beyond the row write over the beginning of the "
    "next one, and behind the last row outside of the tensor."
)
FAILS = ("test_a_width_need_not_be_a_power_of_two",)
SYMPTOMS = ("kernel.out_of_bounds_store", "kernel.race")
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "store_not_masked")
