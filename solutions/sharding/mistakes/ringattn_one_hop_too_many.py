"""Blocks make n hops and come home again."""

import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, merged, part, positions

EXERCISE = "ring_attention"
HINT = "Your blocks make n hops: the last one brings each home, where it is not needed any more. n − 1 hops let everyone see everything."
FAILS = (
    "test_keys_and_values_make_n_minus_1_hops_and_nothing_else_is_sent",
    "test_any_ring_carries_keys_and_values_and_nothing_else",
)
SYMPTOMS = ("ring.too_much_sent",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = positions(tokens, ranks, rank, causal)
    parts = (
        part(q, keys, values, later(own, positions(tokens, ranks, holder, causal)) if causal else None)
        for holder, keys, values in blocks(k, v, tokens, group, causal, more_hops=1)
    )
    return merged(parts, q)
