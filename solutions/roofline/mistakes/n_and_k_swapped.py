"""The arguments are taken as m, k, n."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = "You take the arguments as m, k, n. They are m, n, k: the result is (m, n), and k is summed away."
FAILS = (
    "test_a_large_matmul_and_a_single_row",
    "test_the_matmuls_of_gpt2",
    "test_a_batch_multiplies_everything",
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
    return right(m, k, n, dtype, batch, weight_dtype, output_dtype)
