"""Without a master copy nothing is read that could be updated."""

from specs import DTYPE_BYTES, Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = "Without a master copy the step updates the weights themselves, and has to read them."
FAILS = (
    "test_adamw_moves_28_bytes_a_parameter",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    got = right(parameters, recipe, table)
    if recipe.master is not None:
        return got
    weights = parameters * DTYPE_BYTES[recipe.weights]
    return got.model_copy(update={"bytes_read": got.bytes_read - weights})
