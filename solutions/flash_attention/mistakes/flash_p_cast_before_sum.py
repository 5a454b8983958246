"""P is rounded before it is summed."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_half"
HINT = (
    "Your sum l adds P after it was rounded to 16 bits. Sum the fp32 P; round only the operand of the "
    "product with V."
)
FAILS = ("test_sums_are_kept_in_fp32",)
SYMPTOMS = ("p_cast_before_sum",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "p_cast_before_sum")
