"""Naive attention is taken to skip the pairs that the mask hides, FLOPs and bytes."""

from specs import DTYPE_BYTES, Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "Naive attention computes every score and masks afterwards: causal saves it neither FLOPs nor bytes."
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
    hidden_bytes = 2 * (1 - seen) * batch * heads * queries * keys * DTYPE_BYTES[dtype]
    return Cost(
        flops=got.flops * seen,
        bytes_read=got.bytes_read - hidden_bytes,
        bytes_written=got.bytes_written - hidden_bytes,
    )
