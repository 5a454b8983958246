"""The scores are not scaled."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = "Your scores are QKᵀ without the factor 1/√D (or the scale that was given)."
FAILS = ("test_scores_are_scaled_once",)
SYMPTOMS = ("scale_missing",)
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
    return run(q, k, v, causal, 1.0)
