"""The optimizer reads the gradient and the accumulation buffer."""

from specs import DTYPE_BYTES, Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = (
    "Where gradients are accumulated, the buffer is the gradient of the step. The one beside it is not read."
)
FAILS = (
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    got = right(parameters, recipe, table)
    if recipe.gradient_accumulation is None or recipe.gradients is None:
        return got
    gradients = parameters * DTYPE_BYTES[recipe.gradients]
    return got.model_copy(update={"bytes_read": got.bytes_read + gradients})
