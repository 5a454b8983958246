"""Gradients are counted in the format of the weights."""

from specs import Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = "Your gradients have the weights' format. Often they do, but recipe.gradients decides."
FAILS = (
    "test_an_accumulation_buffer_is_a_second_gradient",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_any_recipe",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    if recipe.gradients is None:
        return right(recipe)
    return right(recipe.model_copy(update={"gradients": recipe.weights}))
