"""The optimizer updates the master copy and never writes the weights."""

from specs import DTYPE_BYTES, Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = (
    "After the step the weights that forward reads must be new too: they are written, even beside a "
    "master copy."
)
FAILS = (
    "test_adamw_moves_28_bytes_a_parameter",
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    got = right(parameters, recipe, table)
    weights = parameters * DTYPE_BYTES[recipe.weights]
    return got.model_copy(update={"bytes_written": got.bytes_written - weights})
