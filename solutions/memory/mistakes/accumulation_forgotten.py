"""The buffer that sums gradients over micro-batches is forgotten."""

from specs import DTYPE_BYTES, Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = (
    "Some recipes sum gradients over micro-batches in a second buffer: look for it among the recipe's fields."
)
FAILS = (
    "test_an_accumulation_buffer_is_a_second_gradient",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_any_recipe",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    gradients = 0 if recipe.gradients is None else DTYPE_BYTES[recipe.gradients]
    return right(recipe).model_copy(update={"gradients": gradients})
