"""The moments are counted in the format of the weights."""

from specs import DTYPE_BYTES, Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = (
    "Your moments are as wide as the weights. Each moment has a format of its own, listed in recipe.moments."
)
FAILS = (
    "test_adamw_in_mixed_precision_and_in_fp32_both_cost_16_bytes",
    "test_training_costs_8_times_what_inference_needs",
    "test_an_accumulation_buffer_is_a_second_gradient",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_optimizers_differ_in_the_number_and_format_of_their_moments",
    "test_any_recipe",
    "test_every_copy_may_be_absent_or_alone",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    moments = len(recipe.moments) * DTYPE_BYTES[recipe.weights]
    return right(recipe).model_copy(update={"moments": moments})
