"""A layer norm reads no bias."""

from specs import Cost, DType, ElementFlops

from ..costs import NormKind
from ..costs import norm_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You read a weight for both norms, and nothing else. A layer norm has a bias too."
FAILS = (
    "test_a_norm_reads_its_weight_once",
    "test_any_norm",
)


def norm_cost(kind: NormKind, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    got = right(kind, rows, width, dtype, table)
    rmsnorm = right("rmsnorm", rows, width, dtype, table)
    return rmsnorm.model_copy(update={"flops": got.flops})
