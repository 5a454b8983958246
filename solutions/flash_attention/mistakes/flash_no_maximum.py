"""No maximum is subtracted."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "exp of a large logit is infinite. Subtract the row's running maximum from the scores before you "
    "exponentiate; it cancels in the division."
)
FAILS = ("test_logits_of_ten_thousand_do_not_overflow",)
SYMPTOMS = ("overflow",)
ALSO = ("flash_forward_shapes", "flash_forward_half", "flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "no_maximum")
