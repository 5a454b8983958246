"""Keys and values are counted for every query head."""

from specs import Cost, DType, ElementFlops

from ..costs import AttentionAlgorithm
from ..costs import attention_cost as right
from ..costs import decode_cost as right_decode

EXERCISE = "attention_costs"
HINT = "K and V have kv_heads heads, and you read them with as many heads as Q has."
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
    return right(batch, heads, heads, queries, keys, head_dim, dtype, algorithm, table, causal)


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
    return right_decode(batch, heads, heads, context, head_dim, dtype, table, cache_dtype)
