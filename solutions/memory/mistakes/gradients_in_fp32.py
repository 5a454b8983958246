"""Gradients are counted in fp32 wherever they are kept; an accumulation buffer is counted right."""

from specs import Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = "Your gradients are fp32 under every recipe. Backward writes them in the format recipe.gradients."
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
    if recipe.gradients is None:
        return right(recipe)
    return right(recipe.model_copy(update={"gradients": "fp32"}))
