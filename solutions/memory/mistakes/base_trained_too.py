"""The frozen base gets gradients, a master copy and moments as well."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = "The base is frozen: what does training keep for a parameter that never changes?"
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
    terms = right(base_parameters, matrices, rank, recipe)
    of_base = right(base_parameters, [(base_parameters, 0)], 1, recipe)
    trained = ("gradients", "master", "moments")
    return terms.model_copy(update={name: getattr(terms, name) + getattr(of_base, name) for name in trained})
