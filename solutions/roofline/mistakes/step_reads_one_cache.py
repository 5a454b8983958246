"""Decode reads the cache of one sequence."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "Every sequence of the batch has a cache of its own: attention reads them all."
FAILS = (
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_any_serving_step",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    one = {op.name: op.cost for op in right(model, 1, sequence, phase, dtype, table)}
    ops = right(model, batch, sequence, phase, dtype, table)
    queries = one["attention"].bytes_written  # as many bytes as the query that is read

    def one_cache(op: OpCost) -> dict[str, float]:
        if op.kind != "attention" or phase != "decode":
            return {}
        return {"bytes_read": one["attention"].bytes_read + (batch - 1) * queries}

    return with_cost(ops, one_cache)
