"""The width of a head is taken to be hidden / heads, for queries, keys and values."""

from specs import ElementFlops, Model, OpCost

from ..layers import layer_costs as right

EXERCISE = "layer_costs"
HINT = "heads·head_dim need not be hidden: take head_dim from the model."
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
    attention = model.attention.model_copy(update={"head_dim": model.hidden // model.attention.heads})
    return right(model.model_copy(update={"attention": attention}), batch, sequence, phase, dtype, table)
