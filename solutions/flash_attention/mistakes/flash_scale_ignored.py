"""The scale that is given is ignored."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward"
HINT = "You always use 1/√D: where `scale` is given, it takes its place."
FAILS = ("test_scores_are_scaled_once",)
SYMPTOMS = ("scale_ignored",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, None)
