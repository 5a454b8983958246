"""The new token sees (sequence + 1) / 2 tokens, half of the cache."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "In decode the one query is the last token: it sees the whole cache."
FAILS = (
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_any_serving_step",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    if phase != "decode":
        return ops
    half = (sequence + 1) / 2 / sequence
    return with_cost(ops, lambda op: {"flops": op.cost.flops * half} if op.kind == "attention" else {})
