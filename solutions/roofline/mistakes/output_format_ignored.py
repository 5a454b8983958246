"""The result is counted in the format of the input."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = "The result has a format of its own when output_dtype is given."
FAILS = (
    "test_the_result_may_have_a_format_of_its_own",
    "test_any_matmul_in_any_formats",
    "test_dot_products_outer_products_and_defaults",
)


def matmul_cost(
    m: int,
    n: int,
    k: int,
    dtype: DType,
    batch: int = 1,
    weight_dtype: DType | None = None,
    output_dtype: DType | None = None,
) -> Cost:
    return right(m, n, k, dtype, batch, weight_dtype, None)
