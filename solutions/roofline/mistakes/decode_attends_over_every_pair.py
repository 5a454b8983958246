"""Every token of the context is taken to be a query again."""

from specs import Cost, DType, ElementFlops

from ..costs import decode_cost as right_decode

EXERCISE = "attention_costs"
HINT = "Your FLOPs grow with the square of the context. With a cache only the new token asks."
FAILS = (
    "test_decoding_reads_the_whole_cache_for_one_token",
    "test_the_cache_may_have_a_format_of_its_own",
    "test_any_decode_step",
)


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
    got = right_decode(batch, heads, kv_heads, context, head_dim, dtype, table, cache_dtype)
    return got.model_copy(update={"flops": context * got.flops})
