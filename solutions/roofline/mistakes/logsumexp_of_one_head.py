"""One logsumexp is counted for each query of a sequence, whatever the heads."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "You keep one logsumexp for a query. Each head has its own softmax, and so its own logsumexp."
FAILS = (
    "test_flash_attention_does_the_same_flops_over_fewer_bytes",
    "test_a_causal_mask_saves_flash_the_pairs_that_are_not_seen",
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
    if algorithm == "naive":
        return got
    return got.model_copy(update={"bytes_written": got.bytes_written - 4 * batch * (heads - 1) * queries})
