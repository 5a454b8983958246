"""A training step has no loss."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import without

EXERCISE = "layer_costs"
HINT = "In training the softmax over the vocabulary is an op of its own, loss, forward and backward."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_a_backward_pass_by_pencil_and_paper",
    "test_any_training_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    return without(right(model, batch, sequence, phase, dtype, table), "loss")
