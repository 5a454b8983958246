"""x is squared in 16 bits."""

from torch import Tensor

from ._norms import run_rms_norm

EXERCISE = "rms_norm_triton"
HINT = (
    "You square x in the format it came in: 300² does not fit into fp16, and becomes infinite. "
    "Convert to fp32 before you square, not after."
)
FAILS = ("test_half_precision_rows_are_summed_in_fp32",)
SYMPTOMS = ("squares_in_half",)
ALSO = ()


def rms_norm_triton(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Wrong: see the module."""
    return run_rms_norm(x, weight, eps, "squares_in_half")
