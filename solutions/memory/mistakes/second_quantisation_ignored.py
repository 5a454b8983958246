"""Constants are counted in fp32 though they are quantised again."""

from collections.abc import Sequence

from specs import AdapterStateBytes, Recipe

from ..state import adapter_state_bytes as right

EXERCISE = "adapter_state_bytes"
HINT = "Under double quantisation a constant is no longer an fp32: read double_quantization_block."
FAILS = (
    "test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127",
    "test_adapters_over_a_quantised_base",
)


def adapter_state_bytes(
    base_parameters: int, matrices: Sequence[tuple[int, int]], rank: int, recipe: Recipe
) -> AdapterStateBytes:
    single = recipe.adapters.model_copy(update={"double_quantization_block": None})
    return right(base_parameters, matrices, rank, recipe.model_copy(update={"adapters": single}))
