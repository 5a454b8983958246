"""The output head is left out."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right
from ._ops import without

EXERCISE = "layer_costs"
HINT = "The head is a matmul of the step too, d × vocab, once."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_a_backward_pass_by_pencil_and_paper",
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_matmul_flops_are_2nd_forward_and_4nd_backward",
    "test_only_big_matmuls_stand_above_the_ridge",
    "test_any_training_step",
    "test_any_serving_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    return without(right(model, batch, sequence, phase, dtype, table), "head")
