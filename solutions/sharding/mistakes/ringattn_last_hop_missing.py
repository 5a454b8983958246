"""The block of the next rank never arrives: n − 2 hops."""

import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, merged, part, positions

EXERCISE = "ring_attention"
HINT = "One block of keys never comes by: the one that has the longest way. How many hops does it take until n ranks have seen n blocks?"
FAILS = (
    "test_attention_on_a_ring_is_the_whole_attention",
    "test_any_sequence_on_a_ring",
    "test_keys_and_values_make_n_minus_1_hops_and_nothing_else_is_sent",
)
SYMPTOMS = ("ring.last_hop_missing", "ring.too_little_sent")


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = positions(tokens, ranks, rank, causal)
    parts = [
        part(q, keys, values, later(own, positions(tokens, ranks, holder, causal)) if causal else None)
        for holder, keys, values in blocks(k, v, tokens, group, causal, more_hops=-1)
        if ranks == 1 or holder != (rank + 1) % ranks
    ]
    return merged(parts, q)
