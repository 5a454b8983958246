"""Both thin matrices are given the input's width."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = "You count 2·in·rank, which is right for square matrices only."
FAILS = (
    "test_an_adapter_is_as_long_as_its_matrix_is_wide_and_high",
    "test_base_and_adapters_have_formats_of_their_own",
    "test_adapters_over_a_quantised_base",
    "test_adapters_over_a_base_as_it_is",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    return right(base_parameters, [(width_in, width_in) for width_in, _ in matrices], rank, recipe)
