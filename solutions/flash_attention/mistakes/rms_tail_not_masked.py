"""The lanes beyond the row are loaded."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "Your block is longer than the row, and the lanes beyond its end load the next row, or what lies "
    "behind the tensor. Give tl.load a mask, and a value for those lanes that adds nothing to a sum "
    "of squares."
)
FAILS = ("test_a_width_need_not_be_a_power_of_two",)
SYMPTOMS = ("kernel.out_of_bounds_load",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "tail_not_masked")
