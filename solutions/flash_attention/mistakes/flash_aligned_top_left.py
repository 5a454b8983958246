"""The causal mask is aligned top-left."""

from torch import Tensor

from ._forward import run

EXERCISE = "flash_forward_causal"
HINT = "Your mask compares j ≤ i: with T_q ≠ T_k the last query is to see the last key, so j ≤ i + T_k − T_q."
FAILS = ("test_causal_is_aligned_bottom_right",)
SYMPTOMS = ("aligned_top_left",)
ALSO = ("flash_forward_gqa",)


def flash_forward(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Wrong: see the module."""
    return run(q, k, v, causal, scale, "aligned_top_left")
