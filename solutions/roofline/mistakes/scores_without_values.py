"""Only the matmul of the scores is counted."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right
from ..costs import decode_cost as right_decode

EXERCISE = "attention_costs"
HINT = "You count 2·head_dim FLOPs a pair, the score's. Weighting the values is a second matmul as large."
FAILS = (
    "test_naive_attention_moves_the_scores_four_times",
    "test_flash_attention_does_the_same_flops_over_fewer_bytes",
    "test_a_causal_mask_saves_flash_the_pairs_that_are_not_seen",
    "test_a_causal_mask_saves_naive_attention_nothing",
    "test_decoding_reads_the_whole_cache_for_one_token",
    "test_the_cache_may_have_a_format_of_its_own",
    "test_any_attention_without_a_mask",
    "test_any_causal_attention",
    "test_any_decode_step",
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
    pair = 4 * head_dim + table.softmax
    got = right(batch, heads, kv_heads, queries, keys, head_dim, dtype, algorithm, table, causal)
    return got.model_copy(update={"flops": got.flops / pair * (pair - 2 * head_dim)})


def decode_cost(
    batch: int,
    heads: int,
    kv_heads: int,
    context: int,
    head_dim: int,
    dtype: DType,
    table: ElementFlops,
    cache_dtype: DType | None = None,
) -> Cost:
    pair = 4 * head_dim + table.softmax
    got = right_decode(batch, heads, kv_heads, context, head_dim, dtype, table, cache_dtype)
    return got.model_copy(update={"flops": got.flops / pair * (pair - 2 * head_dim)})
