"""exp2 without log2(e)."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = (
    "Your exponential has base 2 where the softmax has base e: exp2(x · log2(e)) = exp(x). Fold "
    "log2(e) = 1.4427 into the scale."
)
FAILS = ("test_scores_are_scaled_once",)
SYMPTOMS = ("base_two",)
ALSO = (
    "flash_forward_shapes",
    "flash_forward_half",
    "flash_forward_causal",
    "flash_forward_gqa",
    "efficiency",
)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, log2_e=1.0)
