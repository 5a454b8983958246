"""Flash attention computes all pairs under a mask too."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "Flash skips the pairs that the causal mask hides: count only those that are seen."
FAILS = (
    "test_a_causal_mask_saves_flash_the_pairs_that_are_not_seen",
    "test_any_causal_attention",
)


def attention_cost(
    batch: int,
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    head_dim: int,
    dtype: DType,
    algorithm: AttentionAlgorithm,
    table: ElementFlops,
    causal: bool = False,
) -> Cost:
    return right(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, table)
