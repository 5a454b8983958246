"""The cache is counted in the format of the query."""

from specs import Cost, DType, ElementFlops

from ..costs import decode_cost as right_decode

EXERCISE = "attention_costs"
HINT = "The cache has a format of its own when cache_dtype is given."
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
    return right_decode(batch, heads, kv_heads, context, head_dim, dtype, table)
