"""The softmax reads its matrix once for the maximum and once more for the sum."""

from specs import Cost, DType, ElementFlops

from ..costs import softmax_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You read the matrix again for another pass. The row stays on the chip: one read is enough."
FAILS = (
    "test_a_softmax_reads_once_and_counts_by_the_table",
    "test_any_softmax",
)


def softmax_cost(rows: int, columns: int, dtype: DType, table: ElementFlops) -> Cost:
    got = right(rows, columns, dtype, table)
    return got.model_copy(update={"bytes_read": 2 * got.bytes_read})
