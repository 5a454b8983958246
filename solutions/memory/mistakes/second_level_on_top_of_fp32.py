"""Under double quantisation the first level is still counted in fp32."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = (
    "Both levels of your constants are fp32. The second level is there so that one of the first takes 1 byte."
)
FAILS = (
    "test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127",
    "test_adapters_over_a_quantised_base",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    terms = right(base_parameters, matrices, rank, recipe)
    if recipe.adapters.double_quantization_block is None:
        return terms
    constants = 4 * base_parameters / recipe.adapters.quantization_block
    second = constants / recipe.adapters.double_quantization_block
    return terms.model_copy(update={"quantization_constants": constants + second})
