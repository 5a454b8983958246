"""The cache is read once for all sequences."""

from specs import DTYPE_BYTES, Cost, DType, ElementFlops

from ..costs import decode_cost as right_decode

EXERCISE = "attention_costs"
HINT = "You read one cache for the whole batch. Weights are shared by sequences; a cache is not."
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
    cache = 2 * kv_heads * context * head_dim * DTYPE_BYTES[cache_dtype or dtype]
    return got.model_copy(update={"bytes_read": got.bytes_read - (batch - 1) * cache})
