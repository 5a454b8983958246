"""The scores are scaled twice."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = "Your scores are multiplied by the scale twice: once for q, say, and once more after the dot."
FAILS = ("test_scores_are_scaled_once",)
SYMPTOMS = ("scale_twice",)
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
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return run(q, k, v, causal, scale * scale)
