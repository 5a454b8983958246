"""The output is not divided by the sum."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = "Your output is the sum of exp(s − m) · v, not yet divided by l: divide once, after the loop."
FAILS = ("test_scores_are_scaled_once",)
SYMPTOMS = ("not_divided",)
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
    return run(q, k, v, causal, scale, "not_divided")
