"""Scores are not divided by √D."""

import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, merged, part, positions

EXERCISE = "ring_attention"
HINT = "Your scores are Q·Kᵀ without 1/√D."
FAILS = (
    "test_attention_on_a_ring_is_the_whole_attention",
    "test_causal_attention_on_a_ring_looks_at_positions_in_the_whole_sequence",
    "test_any_sequence_on_a_ring",
    "test_any_causal_sequence_on_a_ring",
)
SYMPTOMS = ("ring.not_scaled",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = positions(tokens, ranks, rank, causal)
    parts = (
        part(
            q * q.shape[-1] ** 0.5,
            keys,
            values,
            later(own, positions(tokens, ranks, holder, causal)) if causal else None,
        )
        for holder, keys, values in blocks(k, v, tokens, group, causal)
    )
    return merged(parts, q)
