"""An fp32 master copy is counted under every recipe, also where the recipe keeps none."""

from specs import Recipe, StateBytes

from ..state import state_bytes_per_parameter as right

EXERCISE = "state_bytes_per_parameter"
HINT = "You count an fp32 master copy under every recipe. What does recipe.master say for this one?"
FAILS = (
    "test_adamw_in_mixed_precision_and_in_fp32_both_cost_16_bytes",
    "test_training_costs_8_times_what_inference_needs",
    "test_fp8_recipes_cost_15_10_and_9_bytes",
    "test_optimizers_differ_in_the_number_and_format_of_their_moments",
    "test_every_copy_may_be_absent_or_alone",
)


def state_bytes_per_parameter(recipe: Recipe) -> StateBytes:
    return right(recipe).model_copy(update={"master": 4})
