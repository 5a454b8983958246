"""Only the scores are computed."""

from ..choice import ring_attention_min_block as right

EXERCISE = "overlap"
HINT = "You count the FLOPs of the scores only. Weighting the values takes as many again: 4·c² for each query head and dimension."
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
    return 2 * right(flops_per_s, link_bytes_per_s, heads, kv_heads, value_bytes)
