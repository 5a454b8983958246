"""Naive attention writes S and P and never reads them."""

from specs import DTYPE_BYTES, Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "What the first kernel writes the next one has to read: S and P are read too."
FAILS = (
    "test_naive_attention_moves_the_scores_four_times",
    "test_a_causal_mask_saves_naive_attention_nothing",
    "test_any_attention_without_a_mask",
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
    if algorithm == "flash":
        return got
    scores_bytes = batch * heads * queries * keys * DTYPE_BYTES[dtype]
    return got.model_copy(update={"bytes_read": got.bytes_read - 2 * scores_bytes})
