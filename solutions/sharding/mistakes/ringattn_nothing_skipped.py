"""Chunks that no query sees are multiplied and then masked."""

import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, merged, part, positions

EXERCISE = "ring_attention"
HINT = "Your ranks multiply chunks of keys that lie wholly after the queries, and mask the result: twice the work. Split queries and keys into their two chunks, and skip the pairs that are all mask."
FAILS = ("test_zigzag_makes_every_rank_work_as_much",)
SYMPTOMS = ("ring.nothing_skipped",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = positions(tokens, ranks, rank, causal)
    parts = (
        part(q, keys, values, later(own, positions(tokens, ranks, holder, causal)) if causal else None)
        for holder, keys, values in blocks(k, v, tokens, group, causal)
    )
    return merged(parts, q)
