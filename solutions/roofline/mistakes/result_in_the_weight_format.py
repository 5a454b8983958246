"""The result is counted in the format of the weights."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = "Quantised weights do not quantise the result: without an output_dtype it is in dtype."
FAILS = (
    "test_quantised_weights_are_read_in_their_own_format",
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
    return right(m, n, k, dtype, batch, weight_dtype, output_dtype or weight_dtype)
