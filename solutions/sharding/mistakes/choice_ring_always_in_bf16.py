"""Values are sent in 2 bytes, whatever is asked for."""

from ..choice import ring_attention_min_block as right

EXERCISE = "overlap"
HINT = "You do not look at `value_bytes`: half as many bytes for a value hide behind half as long a block."
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
    return right(flops_per_s, link_bytes_per_s, heads, kv_heads, 2)
