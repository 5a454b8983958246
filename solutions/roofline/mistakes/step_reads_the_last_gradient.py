"""The optimizer reads the gradient, and the accumulation buffer is ignored."""

from specs import Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = (
    "You read the gradient of the last micro-batch. Where there is an accumulation buffer, the sum is there."
)
FAILS = (
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    return right(parameters, recipe.model_copy(update={"gradient_accumulation": None}), table)
