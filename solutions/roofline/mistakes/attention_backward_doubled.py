"""Attention costs twice its forward FLOPs in the backward pass, as a linear layer does."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import with_cost

EXERCISE = "layer_costs"
HINT = "Attention has no weights, and flash computes the scores again: five matmuls where forward had two."
FAILS = (
    "test_a_backward_pass_by_pencil_and_paper",
    "test_any_training_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    ops = right(model, batch, sequence, phase, dtype, table)
    if phase != "backward":
        return ops
    return with_cost(ops, lambda op: {"flops": op.cost.flops * 2 / 2.5} if op.kind == "attention" else {})
