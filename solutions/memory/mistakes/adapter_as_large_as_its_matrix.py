"""An adapter is counted as rank·in·out."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = (
    "You multiply in by out. An adapter never has a matrix of the full size: its two thin ones have a "
    "side of rank each."
)
FAILS = (
    "test_only_the_adapters_are_trained",
    "test_an_adapter_is_as_long_as_its_matrix_is_wide_and_high",
    "test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127",
    "test_base_and_adapters_have_formats_of_their_own",
    "test_adapters_over_a_quantised_base",
    "test_adapters_over_a_base_as_it_is",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    full = [(width_in * width_out, 0) for width_in, width_out in matrices]
    return right(base_parameters, full, rank, recipe)
