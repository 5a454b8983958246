"""Weight and bias of a norm are read again for each row."""

from specs import Cost, DType, ElementFlops

from ..costs import NormKind
from ..costs import norm_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You read weight and bias once for every row. They are small and stay on the chip: once is enough."
FAILS = (
    "test_a_norm_reads_its_weight_once",
    "test_any_norm",
)


def norm_cost(kind: NormKind, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    got = right(kind, rows, width, dtype, table)
    vectors = got.bytes_read - got.bytes_written
    return got.model_copy(update={"bytes_read": got.bytes_written + rows * vectors})
