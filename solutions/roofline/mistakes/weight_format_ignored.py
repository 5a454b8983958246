"""Quantised weights are counted in the format of the activations."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = "The (k, n) operand has a format of its own when weight_dtype is given."
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
    return right(m, n, k, dtype, batch, None, output_dtype)
