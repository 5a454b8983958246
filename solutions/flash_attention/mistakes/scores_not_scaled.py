"""The scores are not scaled."""

from typing import TYPE_CHECKING

from ._tiles import attend

EXERCISE = "tiled_attention"
HINT = "Your scores are QKᵀ without the scale: multiply them by `scale`, or 1/√D, before anything else."
FAILS = (
    "test_scores_are_scaled_once",
    "test_any_attention_in_any_tiles",
)
SYMPTOMS = ("scale_missing",)


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
    return attend(q, k, v, block_q, block_k, causal, scale, factor=lambda scale: 1.0)
