"""The activations are counted in the format of the weights."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = "weight_dtype is the format of the (k, n) operand alone; the (m, k) operand stays in dtype."
FAILS = (
    "test_quantised_weights_are_read_in_their_own_format",
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
    return right(m, n, k, weight_dtype or dtype, batch, weight_dtype, output_dtype or dtype)
