"""The optimizer writes the gradients as well."""

from specs import DTYPE_BYTES, Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You write the gradients too. Setting them to zero is another kernel, and not in this bill."
FAILS = (
    "test_adamw_moves_28_bytes_a_parameter",
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    got = right(parameters, recipe, table)
    gradient = recipe.gradient_accumulation or recipe.gradients
    if gradient is None:
        return got
    return got.model_copy(update={"bytes_written": got.bytes_written + parameters * DTYPE_BYTES[gradient]})
