"""The gathered layer's gradient is forgotten."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = (
    "You gather the largest layer's weights. Backward writes that layer's whole gradient before it is "
    "sharded."
)
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
    return terms.model_copy(update={"gathered": terms.gathered / 2})
