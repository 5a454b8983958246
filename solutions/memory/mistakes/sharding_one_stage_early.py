"""Stages 1 and 2 shard what the stage after them should."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "You shard one thing too many at stages 1 and 2. Which state comes first, because it is the largest?"
FAILS = (
    "test_zero_shrinks_120_gb_to_31_4_then_16_6_then_1_9",
    "test_megatrons_distributed_optimizer_costs_6_bytes_and_12_shared",
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
    next_stage = min(3, stage + 1) if stage else 0
    terms = right(parameters, recipe, gpus, next_stage, offload, largest_layer_parameters)
    gathered = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters).gathered
    return terms.model_copy(update={"gathered": gathered})
