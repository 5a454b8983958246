"""Query and result are counted in the format of the cache."""

from specs import Cost, DType, ElementFlops

from ..costs import decode_cost as right_decode

EXERCISE = "attention_costs"
HINT = "cache_dtype is the format of cached keys and values alone: query and result stay in dtype."
FAILS = (
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
    return right_decode(batch, heads, kv_heads, context, head_dim, cache_dtype or dtype, table)
