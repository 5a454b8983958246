"""Weights stay on the GPU when everything is offloaded."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "You treat offload='all' as 'optimizer': it moves the weights to the host too."
FAILS = ("test_stage_3_gathers_one_layer_whole_whatever_is_offloaded", "test_any_group_stage_and_offload")


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    moved = "optimizer" if offload == "all" else offload
    return right(parameters, recipe, gpus, stage, moved, largest_layer_parameters)
