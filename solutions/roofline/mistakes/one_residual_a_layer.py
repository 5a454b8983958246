"""A layer has one residual addition."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right

EXERCISE = "layer_costs"
HINT = "A layer adds to the residual stream twice: behind attention and behind the MLP."
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
    return [op.model_copy(update={"count": model.layers}) if op.name == "residuals" else op for op in ops]
