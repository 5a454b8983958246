"""Flash attention is taken to leave the softmax's FLOPs out."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = "Flash does the same FLOPs as naive attention, softmax included. What it saves is bytes."
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
    if algorithm == "naive":
        return right(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, table, causal)
    without = table.model_copy(update={"softmax": 0})
    return right(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, without, causal)
