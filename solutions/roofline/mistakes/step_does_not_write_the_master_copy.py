"""The optimizer reads the master copy and writes only the weights."""

from specs import Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = "The master copy is what the step updates: it is written as well as read."
FAILS = (
    "test_adamw_moves_28_bytes_a_parameter",
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    without = right(parameters, recipe.model_copy(update={"master": None}), table)
    return right(parameters, recipe, table).model_copy(update={"bytes_written": without.bytes_written})
