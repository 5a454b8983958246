"""An RMS norm reads a bias."""

from specs import Cost, DType, ElementFlops

from ..costs import NormKind
from ..costs import norm_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You read a bias for both norms. An RMS norm has a weight and no bias."
FAILS = (
    "test_a_norm_reads_its_weight_once",
    "test_any_norm",
)


def norm_cost(kind: NormKind, rows: int, width: int, dtype: DType, table: ElementFlops) -> Cost:
    got = right(kind, rows, width, dtype, table)
    layernorm = right("layernorm", rows, width, dtype, table)
    return layernorm.model_copy(update={"flops": got.flops})
