"""FLOPs are those of the batch, bytes those of one matmul."""

from specs import Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = (
    "Your FLOPs grow with the batch and your bytes do not. Every matmul of the batch moves its own "
    "three matrices."
)
FAILS = (
    "test_the_matmuls_of_gpt2",
    "test_a_batch_multiplies_everything",
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
    one = right(m, n, k, dtype, 1, weight_dtype, output_dtype)
    return one.model_copy(update={"flops": got.flops})
