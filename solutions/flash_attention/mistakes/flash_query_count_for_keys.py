"""The loop over keys ends at the number of queries."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_shapes"
HINT = "Your loop over the keys ends at T_q; it must end at T_k."
FAILS = ("test_queries_and_keys_may_differ_in_number",)
SYMPTOMS = ("query_count_for_keys",)
ALSO = ("flash_forward_half", "flash_forward_gqa")


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "query_count_for_keys")
