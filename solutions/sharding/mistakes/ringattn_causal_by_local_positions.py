"""The mask compares places within the two blocks."""

import torch
from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, later, merged, part

EXERCISE = "ring_attention"
HINT = "Your mask compares places within the rank's own block and the block that came by. Whose block is it, and at which positions of the whole sequence do its tokens stand?"
FAILS = (
    "test_causal_attention_on_a_ring_looks_at_positions_in_the_whole_sequence",
    "test_any_causal_sequence_on_a_ring",
)
SYMPTOMS = ("ring.causal_by_local_positions",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    parts = []
    for _, keys, values in blocks(k, v, tokens, group, causal):
        hidden = later(torch.arange(q.shape[-2]), torch.arange(keys.shape[-2])) if causal else None
        parts.append(part(q, keys, values, hidden))
    return merged(parts, q)
