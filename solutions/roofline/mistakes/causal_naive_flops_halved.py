"""Naive attention is taken to compute only the pairs that the mask leaves, over the same bytes."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = (
    "Naive attention computes every score and masks afterwards. It is flash that skips what the mask hides."
)
FAILS = (
    "test_a_causal_mask_saves_naive_attention_nothing",
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
    if algorithm == "flash" or not causal:
        return got
    seen = (keys - queries + (queries + 1) / 2) / keys
    return got.model_copy(update={"flops": got.flops * seen})
