"""A query sees one key of the future."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = "Your mask lets each query see one key too many: j ≤ i + T_k − T_q, and not j ≤ i + 1."
FAILS = ("test_a_query_sees_itself_and_what_came_before",)
SYMPTOMS = ("one_key_too_many",)
ALSO = ("flash_forward_gqa", "efficiency")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "one_key_too_many")
