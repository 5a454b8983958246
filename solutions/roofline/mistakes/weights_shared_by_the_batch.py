"""The (k, n) operand is read once for the whole batch."""

from specs import DTYPE_BYTES, Cost, DType

from ..costs import matmul_cost as right

EXERCISE = "matmul_costs"
HINT = (
    "You read the second operand once for the whole batch. These matmuls are independent: each has its "
    "own (k, n)."
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
    weight_bytes = k * n * DTYPE_BYTES[weight_dtype or dtype]
    got = right(m, n, k, dtype, batch, weight_dtype, output_dtype)
    return got.model_copy(update={"bytes_read": got.bytes_read - (batch - 1) * weight_bytes})
