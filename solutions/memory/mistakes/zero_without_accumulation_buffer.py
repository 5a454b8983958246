"""The accumulation buffer is forgotten among the gradients."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "Some recipes keep a second gradient buffer: gradients count it here as they do in section 1."
FAILS = ("test_an_accumulation_buffer_is_sharded_with_the_gradients", "test_any_group_stage_and_offload")


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    without = recipe.model_copy(update={"gradient_accumulation": None})
    return right(parameters, without, gpus, stage, offload, largest_layer_parameters)
