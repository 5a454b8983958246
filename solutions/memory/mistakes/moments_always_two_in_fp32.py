"""The moments cost 8 bytes whatever the recipe says."""

from specs import Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = (
    "Your moments cost 8 bytes under every recipe. How many there are, and in which format, "
    "recipe.moments says."
)
FAILS = (
    "test_training_costs_8_times_what_inference_needs",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_optimizers_differ_in_the_number_and_format_of_their_moments",
    "test_any_recipe",
    "test_every_copy_may_be_absent_or_alone",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    return right(recipe).model_copy(update={"moments": 8})
