"""Every query sees every key."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "Attention is causal: the first query of a sequence sees one key, the last all of them."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_a_backward_pass_by_pencil_and_paper",
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_any_training_step",
    "test_any_serving_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    if phase == "decode":
        return ops
    more = 2 * sequence / (sequence + 1)
    return with_cost(ops, lambda op: {"flops": op.cost.flops * more} if op.kind == "attention" else {})
