"""A gathered layer is counted below stage 3 too."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "Below stage 3 every GPU has all weights already: there is nothing to gather."
FAILS = (
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
    gathered = right(parameters, recipe, gpus, 3, offload, largest_layer_parameters).gathered
    terms = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters)
    return terms.model_copy(update={"gathered": gathered})
