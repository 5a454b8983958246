"""The whole score matrix is made."""

import math
from typing import TYPE_CHECKING

EXERCISE = "tiled_attention"
HINT = (
    "You compute all scores and only then cut them into tiles. Compute the scores of one tile inside the "
    "loops, from its rows of Q and of K."
)
FAILS = (
    "test_never_makes_the_whole_matrix",
    "test_never_makes_a_mask_of_all_pairs",
    "test_any_attention_without_a_matrix",
    "test_any_causal_attention_without_a_matrix",
)
SYMPTOMS = ("whole_matrix",)


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

    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = scale * (q.float() @ k.float().mT)
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(k.shape[-2] - q.shape[-2] + 1)
        scores = scores.masked_fill(hidden, -math.inf)
    lse = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - lse.masked_fill(lse == -math.inf, 0.0)[..., None])
    return (weights @ v.float()).to(q.dtype), lse
