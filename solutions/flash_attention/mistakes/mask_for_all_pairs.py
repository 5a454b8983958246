"""A mask of T_q × T_k is made."""

from typing import TYPE_CHECKING

from ..tiled import tiled_attention as right

EXERCISE = "tiled_attention"
HINT = (
    "Your scores are made tile by tile, and your mask is not: it has T² elements. Make the mask of a tile"
    " from its own positions."
)
FAILS = (
    "test_never_makes_a_mask_of_all_pairs",
    "test_any_causal_attention_without_a_matrix",
)
SYMPTOMS = ("mask_of_all_pairs",)


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

    if causal:
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(k.shape[-2] - q.shape[-2] + 1)
        del hidden  # what it costs is what it was made for: the right function has masks of its own
    return right(q, k, v, block_q, block_k, causal, scale)
