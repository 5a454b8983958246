"""Keys and values of all ranks are gathered, and attention is computed alone."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import later, part, positions

EXERCISE = "ring_attention"
HINT = "Your ranks gather all keys and values, so that each holds the whole sequence: that is what the ring is there to avoid. Pass blocks on by send and receive, and forget each when it is merged."
FAILS = (
    "test_keys_and_values_make_n_minus_1_hops_and_nothing_else_is_sent",
    "test_any_ring_carries_keys_and_values_and_nothing_else",
)
SYMPTOMS = ("ring.all_gather",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    held = [positions(tokens, ranks, each, causal) for each in range(ranks)]
    longest = max(map(len, held))
    mine = torch.stack((k, v))
    padded = mine.new_zeros(*mine.shape[:-2], longest, mine.shape[-1])
    padded[..., : mine.shape[-2], :] = mine
    gathered = [torch.empty_like(padded) for _ in held]
    dist.all_gather(gathered, padded, group=group)
    cut = [each[..., : len(place), :] for each, place in zip(gathered, held, strict=True)]
    keys, values = torch.cat(cut, -2).float()
    out, lse = part(q, keys, values, later(held[rank], torch.cat(held)) if causal else None)
    return out.to(q.dtype), lse
