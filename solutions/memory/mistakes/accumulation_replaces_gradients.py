"""The accumulation buffer is counted in place of the gradients, not beside them."""

from specs import DTYPE_BYTES, Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = "The accumulation buffer does not take the gradients' place: both exist at once."
FAILS = (
    "test_an_accumulation_buffer_is_a_second_gradient",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_any_recipe",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    dtype = recipe.gradients if recipe.gradient_accumulation is None else recipe.gradient_accumulation
    gradients = 0 if dtype is None else DTYPE_BYTES[dtype]
    return right(recipe).model_copy(update={"gradients": gradients})
