"""Offloading moves nothing."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = (
    "Your answer is the same with and without offload. What has moved to host memory takes none on the GPU."
)
FAILS = (
    "test_stage_3_gathers_one_layer_whole_whatever_is_offloaded",
    "test_below_stage_3_offload_leaves_the_weights_and_nothing_is_gathered",
    "test_any_group_stage_and_offload",
)


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    return right(parameters, recipe, gpus, stage, "none", largest_layer_parameters)
