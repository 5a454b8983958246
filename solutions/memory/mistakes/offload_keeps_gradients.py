"""Gradients stay on the GPU when the optimizer is offloaded, or everything is."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "Master copy and moments have moved to the host, and the gradients that update them go along."
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
    gradients = right(parameters, recipe, gpus, stage).gradients
    terms = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters)
    return terms.model_copy(update={"gradients": gradients})
