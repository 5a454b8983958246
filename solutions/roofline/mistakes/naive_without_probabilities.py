"""Naive attention moves S and no P: the softmax is done on the way."""

from specs import DTYPE_BYTES, Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "You move one matrix of scores. Naive attention has three kernels: S is written and read, and so is P."
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
    return got.model_copy(
        update={
            "bytes_read": got.bytes_read - scores_bytes,
            "bytes_written": got.bytes_written - scores_bytes,
        }
    )
