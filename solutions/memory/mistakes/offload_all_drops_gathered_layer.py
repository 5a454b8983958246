"""With everything offloaded nothing is counted on the GPU."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "Even with everything offloaded the GPU computes: the layer it works on must be there."
FAILS = ("test_stage_3_gathers_one_layer_whole_whatever_is_offloaded", "test_any_group_stage_and_offload")


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    terms = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters)
    return terms.model_copy(update={"gathered": 0}) if offload == "all" else terms
