"""Only the first matrix gets an adapter."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = "Every entry of matrices gets an adapter of its own: you count one."
FAILS = (
    "test_only_the_adapters_are_trained",
    "test_an_adapter_is_as_long_as_its_matrix_is_wide_and_high",
    "test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127",
    "test_base_and_adapters_have_formats_of_their_own",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    return right(base_parameters, matrices[:1], rank, recipe)
