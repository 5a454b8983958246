"""A multiplication with its addition is counted as one FLOP."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = (
    "Your FLOPs are half: each term of a dot product is a multiplication and an addition, and that is "
    "two FLOPs."
)
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
    got = right(m, n, k, dtype, batch, weight_dtype, output_dtype)
    return got.model_copy(update={"flops": batch * m * n * k})
