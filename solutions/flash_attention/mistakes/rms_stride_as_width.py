"""Rows are taken to lie `width` apart."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "You take row r to begin at r · width. Rows of a view may lie further apart: x has a row_stride, "
    "and only the output is contiguous."
)
FAILS = ("test_rows_may_lie_apart",)
SYMPTOMS = ("row_stride_ignored", "kernel.out_of_bounds_load")
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "stride_as_width")
