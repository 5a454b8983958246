"""Every query sees every key."""

from torch import Tensor

from ..ring_attention import Group
from ._ring_attention import blocks, merged, part

EXERCISE = "ring_attention"
HINT = "Queries see later keys too. With causal=True a query sees keys up to its own position in the whole sequence."
FAILS = (
    "test_causal_attention_on_a_ring_looks_at_positions_in_the_whole_sequence",
    "test_any_causal_sequence_on_a_ring",
)
SYMPTOMS = ("ring.causal_ignored",)


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Group = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    return merged((part(q, *block[1:]) for block in blocks(k, v, tokens, group, causal)), q)
