"""The master copy is forgotten."""

from specs import Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = "The optimizer updates a master copy of the weights, most often in fp32: recipe.master is a term of its own."
FAILS = (
    "test_adamw_in_mixed_precision_and_in_fp32_both_cost_16_bytes",
    "test_training_costs_8_times_what_inference_needs",
    "test_an_accumulation_buffer_is_a_second_gradient",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_optimizers_differ_in_the_number_and_format_of_their_moments",
    "test_any_recipe",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    return right(recipe).model_copy(update={"master": 0})
