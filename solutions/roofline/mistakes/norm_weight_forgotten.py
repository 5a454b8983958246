"""A norm reads neither weight nor bias."""

from specs import Cost, DType, ElementFlops

from ..costs import NormKind
from ..costs import norm_cost as right

EXERCISE = "memory_bound_costs"
HINT = "A norm has a weight, and a layer norm a bias too: `width` elements each, read once."
FAILS = (
    "test_a_norm_reads_its_weight_once",
    "test_any_norm",
)


def norm_cost(kind: NormKind, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    got = right(kind, rows, width, dtype, table)
    return got.model_copy(update={"bytes_read": got.bytes_written})
