"""Partial outputs are averaged, as if all blocks weighed the same."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, part, positions

EXERCISE = "ring_attention"
HINT = "Your partial outputs are averaged. A part weighs exp(its lse − lse of all): a block with one large score outweighs all others."
FAILS = (
    "test_attention_on_a_ring_is_the_whole_attention",
    "test_causal_attention_on_a_ring_looks_at_positions_in_the_whole_sequence",
    "test_any_sequence_on_a_ring",
    "test_any_causal_sequence_on_a_ring",
)
SYMPTOMS = ("ring.averaged",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = positions(tokens, ranks, rank, causal)
    parts = [
        part(q, keys, values, later(own, positions(tokens, ranks, holder, causal)) if causal else None)
        for holder, keys, values in blocks(k, v, tokens, group, causal)
    ]
    out = torch.stack([each[0] for each in parts]).mean(0)
    return out.to(q.dtype), torch.stack([each[1] for each in parts]).logsumexp(0)
