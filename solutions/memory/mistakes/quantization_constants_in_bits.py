"""The constants are counted in bits."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = "Your constants are 8 times too large: the 0.5 and 0.127 of the QLoRA paper are bits a parameter."
FAILS = (
    "test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127",
    "test_base_and_adapters_have_formats_of_their_own",
    "test_adapters_over_a_quantised_base",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    terms = right(base_parameters, matrices, rank, recipe)
    return terms.model_copy(update={"quantization_constants": 8 * terms.quantization_constants})
