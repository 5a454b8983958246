"""Ranks hold zig-zag chunks, and the mask takes them for contiguous."""

import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, merged, part, positions

EXERCISE = "ring_attention"
HINT = "Your mask takes each rank's tokens for a contiguous stretch. Under causal a rank has one chunk from the front and one from the back: zigzag_positions says which."
FAILS = ("test_causal_attention_on_a_ring_looks_at_positions_in_the_whole_sequence",)
SYMPTOMS = ("ring.contiguous_positions",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own = positions(tokens, ranks, rank, False)
    parts = []
    for holder, keys, values in blocks(k, v, tokens, group, causal):
        theirs = positions(tokens, ranks, holder, False)
        if causal and (len(own) != q.shape[-2] or len(theirs) != keys.shape[-2]):
            raise ValueError("more tokens than positions")
        parts.append(part(q, keys, values, later(own, theirs) if causal else None))
    return merged(parts, q)
