"""The fp32 master copy is forgotten."""

from specs import Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = "The optimizer updates an fp32 master copy of the weights: recipe.master is a term of its own."
FAILS = ("test_adamw_in_mixed_precision_and_in_fp32_both_cost_16_bytes", "test_any_recipe")


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    return right(recipe).model_copy(update={"master": 0})
