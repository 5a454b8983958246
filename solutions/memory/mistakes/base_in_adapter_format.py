"""The base is counted in the format of the adapters' weights."""

from collections.abc import Sequence

from specs import DTYPE_BYTES, AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = "The base is not stored as the adapters are: its format is recipe.adapters.frozen_weights."
FAILS = (
    "test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127",
    "test_base_and_adapters_have_formats_of_their_own",
    "test_adapters_over_a_quantised_base",
    "test_adapters_over_a_base_as_it_is",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    frozen_weights = base_parameters * DTYPE_BYTES[recipe.weights]
    terms = right(base_parameters, matrices, rank, recipe)
    return terms.model_copy(update={"frozen_weights": frozen_weights})
