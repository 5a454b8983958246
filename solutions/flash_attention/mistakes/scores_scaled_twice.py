"""The scores are scaled twice."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = "Your scores are scaled twice: once in q and once more in QKᵀ, perhaps."
FAILS = (
    "test_scores_are_scaled_once",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("scale_twice",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, factor=lambda scale: scale * scale)
