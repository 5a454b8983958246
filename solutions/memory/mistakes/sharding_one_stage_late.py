"""Each stage shards what the stage before it should."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "You start one stage late: stage 1 shards something already."
FAILS = (
    "test_zero_shrinks_120_gb_to_31_4_then_16_6_then_1_9",
    "test_megatrons_distributed_optimizer_costs_6_bytes_and_12_shared",
    "test_an_accumulation_buffer_is_sharded_with_the_gradients",
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
    terms = right(parameters, recipe, gpus, max(0, stage - 1), offload, largest_layer_parameters)
    gathered = right(parameters, recipe, gpus, stage, offload, largest_layer_parameters).gathered
    return terms.model_copy(update={"gathered": gathered})
