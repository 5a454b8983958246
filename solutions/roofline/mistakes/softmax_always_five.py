"""A softmax is taken to cost 5 FLOPs an element, whatever the table says."""

from specs import Cost, DType, ElementFlops

from ..costs import softmax_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You count 5 FLOPs an element. How many they are is a convention: take table.softmax."
FAILS = (
    "test_a_softmax_reads_once_and_counts_by_the_table",
    "test_any_softmax",
)


def softmax_cost(rows: int, columns: int, dtype: DType, table: ElementFlops) -> Cost:
    return right(rows, columns, dtype, table).model_copy(update={"flops": 5 * rows * columns})
