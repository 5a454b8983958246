"""The scores are computed twice."""

from torch import Tensor

from ._forward import run

EXERCISE = "efficiency"
HINT = (
    "QKᵀ is computed twice for each tile, once for the statistics and once for the output: keep the "
    "scores in registers and rescale instead."
)
FAILS = ("test_the_flops_are_those_of_attention",)
SYMPTOMS = ("scores_computed_twice",)
ALSO = ()


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "scores_computed_twice")
