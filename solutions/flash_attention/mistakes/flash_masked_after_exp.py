"""The mask comes after the exponential."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = (
    "You zero P after the sum was taken, or keep the hidden scores in the maximum: give hidden scores "
    "−inf before the maximum, and both come out right."
)
FAILS = ("test_a_query_sees_itself_and_what_came_before",)
SYMPTOMS = ("masked_after_exp",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "masked_after_exp")
