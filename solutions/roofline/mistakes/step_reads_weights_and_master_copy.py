"""The optimizer reads the weights beside the master copy."""

from specs import DTYPE_BYTES, Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = "Where there is a master copy, the step reads that and only writes the weights."
FAILS = (
    "test_adamw_moves_28_bytes_a_parameter",
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    got = right(parameters, recipe, table)
    if recipe.master is None:
        return got
    weights = parameters * DTYPE_BYTES[recipe.weights]
    return got.model_copy(update={"bytes_read": got.bytes_read + weights})
