"""A causal mask is taken to leave half of all pairs."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = (
    "You take half of queries · keys. The diagonal is seen too, and with more keys than queries it is "
    "far from half."
)
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
    got = right(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, table, causal)
    if algorithm == "naive" or not causal:
        return got
    full = right(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, table)
    return got.model_copy(update={"flops": full.flops / 2})
