"""The logsumexp is counted in the format of Q."""

from specs import DTYPE_BYTES, Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "The logsumexp is fp32 whatever the format of Q: LOGSUMEXP_BYTES each."
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
    saved = (4 - DTYPE_BYTES[dtype]) * batch * heads * queries
    return got.model_copy(update={"bytes_written": got.bytes_written - saved})
