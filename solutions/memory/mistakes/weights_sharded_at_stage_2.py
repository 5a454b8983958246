"""Weights are sharded at stage 2 already."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "At stage 2 every GPU still holds all weights; only stage 3 cuts them."
FAILS = (
    "test_zero_shrinks_120_gb_to_31_4_then_16_6_then_1_9",
    "test_an_accumulation_buffer_is_sharded_with_the_gradients",
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
    terms = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters)
    return terms.model_copy(update={"weights": terms.weights / gpus}) if stage == 2 else terms
