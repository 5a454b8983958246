"""The FLOPs of a layer norm are counted for both norms."""

from specs import Cost, DType, ElementFlops

from ..costs import NormKind
from ..costs import norm_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You take table.layernorm for both norms. An RMS norm has a number of its own in the table."
FAILS = (
    "test_a_norm_reads_its_weight_once",
    "test_any_norm",
)


def norm_cost(kind: NormKind, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    layernorm = right("layernorm", rows, width, dtype, table)
    return right(kind, rows, width, dtype, table).model_copy(update={"flops": layernorm.flops})
