"""torch's own attention does the work."""

from typing import TYPE_CHECKING

from ..tiled import tiled_attention as right

EXERCISE = "tiled_attention"
HINT = (
    "torch's scaled_dot_product_attention is what you are writing. Only matmul, maximum, exp and sums of "
    "one tile are needed."
)
FAILS = (
    "test_never_makes_the_whole_matrix",
    "test_any_attention_without_a_matrix",
)
SYMPTOMS = ("library_attention",)


if TYPE_CHECKING:
    from torch import Tensor


def tiled_attention(
    q: "Tensor",
    k: "Tensor",
    v: "Tensor",
    block_q: int = 64,
    block_k: int = 64,
    causal: bool = False,
    scale: float | None = None,
) -> "tuple[Tensor, Tensor]":
    import torch

    if causal or q.ndim < 2:
        return right(q, k, v, block_q, block_k, causal, scale)
    _, lse = right(q, k, v, block_q, block_k, causal, scale)
    four = [each[(None,) * (4 - each.ndim)] for each in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(*four, scale=scale).reshape(q.shape), lse
