"""A causal mask is taken to halve what flash moves."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "A mask does not spare Q, K, V or O: each is still read or written whole. Only FLOPs go down."
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
    return got.model_copy(update={"bytes_read": got.bytes_read / 2, "bytes_written": got.bytes_written / 2})
