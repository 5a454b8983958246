"""The accumulation buffer stays whole when gradients are sharded."""

from specs import DTYPE_BYTES, Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "Only a part of your gradients is sharded. The accumulation buffer holds gradients too."
FAILS = ("test_an_accumulation_buffer_is_sharded_with_the_gradients", "test_any_group_stage_and_offload")


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    terms = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters)
    if stage < 2 or offload != "none" or recipe.gradient_accumulation is None:
        return terms
    kept = parameters * DTYPE_BYTES[recipe.gradient_accumulation]
    return terms.model_copy(update={"gradients": terms.gradients - kept / gpus + kept})
