"""All blocks are collected before the first score is computed."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group, _chunks
from ._ring_attention import blocks, later, part, positions

EXERCISE = "ring_attention"
HINT = "Your ranks collect all blocks first, and then have scores for the whole sequence at once. Merge each block when it comes, while the next one travels."
FAILS = ("test_scores_of_the_whole_sequence_are_never_alive",)
SYMPTOMS = ("ring.scores_of_the_whole_sequence",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    came = list(blocks(k, v, tokens, group, causal))
    theirs = torch.cat([positions(tokens, ranks, holder, causal) for holder, _, _ in came])
    keys, values = (torch.cat([each[index] for each in came], -2) for index in (1, 2))
    parts = []
    own = _chunks(tokens, ranks, rank, causal)
    for queries, at in zip(q.split([len(each) for each in own], -2), own, strict=True):
        seen = theirs <= at[-1] if causal else theirs >= 0
        hidden = later(at, theirs[seen]) if causal else None
        parts.append(part(queries, keys[..., seen, :], values[..., seen, :], hidden))
    return torch.cat([out for out, _ in parts], -2).to(q.dtype), torch.cat([lse for _, lse in parts], -1)
