"""The first query is taken to see one key only, also where there are more keys."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right

EXERCISE = "attention_costs"
HINT = (
    "You align the mask top left. The last query stands at the last key: all queries see the keys "
    "before them."
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
    pairs = queries * (queries + 1) // 2
    return got.model_copy(update={"flops": batch * heads * pairs * (4 * head_dim + table.softmax)})
