"""A query does not see itself."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = "Your mask hides the diagonal: query i sees key j when j ≤ i + T_k − T_q, its own included."
FAILS = ("test_a_query_sees_itself_and_what_came_before",)
SYMPTOMS = ("diagonal_hidden",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "diagonal_hidden")
