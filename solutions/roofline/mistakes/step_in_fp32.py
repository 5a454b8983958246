"""Every tensor is taken as fp32."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right

EXERCISE = "layer_costs"
HINT = "You count 4 bytes for everything: dtype says how large an element is."
FAILS = (
    "test_a_forward_pass_by_pencil_and_paper",
    "test_a_backward_pass_by_pencil_and_paper",
    "test_prefill_and_decode_by_pencil_and_paper",
    "test_only_big_matmuls_stand_above_the_ridge",
    "test_any_training_step",
    "test_any_serving_step",
    "test_odd_models_are_models_like_any_other",
)


def layer_costs(
    model: Model, batch: int, sequence: int, phase: str, dtype: str, table: ElementFlops
) -> list[OpCost]:
    return right(model, batch, sequence, phase, "fp32", table)
