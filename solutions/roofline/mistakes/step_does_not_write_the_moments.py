"""The optimizer reads its moments and does not write them."""

from specs import Cost, ElementFlops, Recipe

from ..costs import optimizer_step_cost as right

EXERCISE = "memory_bound_costs"
HINT = "Each step changes the moments: they are read and written."
FAILS = (
    "test_adamw_moves_28_bytes_a_parameter",
    "test_the_step_reads_the_accumulated_gradient",
    "test_a_step_of_any_recipe",
)


def optimizer_step_cost(parameters: int, recipe: Recipe, table: ElementFlops) -> Cost:
    return right(parameters, recipe, table).model_copy(
        update={
            "bytes_written": right(parameters, recipe.model_copy(update={"moments": ()}), table).bytes_written
        }
    )
