"""Every query head has its own keys and values."""

from ..choice import ring_attention_min_block as right

EXERCISE = "overlap"
HINT = "You do not look at the heads. FLOPs go by query heads, what is sent by key heads: shared keys make the ring cheaper."
FAILS = (
    "test_a_block_of_1040_tokens_hides_a_ring_of_a100s",
    "test_any_ring",
)


def ring_attention_min_block(
    flops_per_s: float,
    link_bytes_per_s: float,
    heads: int = 1,
    kv_heads: int = 1,
    value_bytes: float = 2,
) -> float:
    return right(flops_per_s, link_bytes_per_s, 1, 1, value_bytes)
