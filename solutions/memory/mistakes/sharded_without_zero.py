"""The state is divided among the GPUs at stage 0 too."""

from specs import Recipe, ZeroStateBytes

from ..state import Offload
from ..state import zero_state_bytes as right

EXERCISE = "zero_state_bytes"
HINT = "Stage 0 is plain data parallelism: every GPU holds a full copy of everything."
FAILS = ("test_zero_shrinks_120_gb_to_31_4_then_16_6_then_1_9", "test_any_group_stage_and_offload")


def zero_state_bytes(
    parameters: int,
    recipe: Recipe,
    gpus: int,
    stage: int,
    offload: Offload = "none",
    largest_layer_parameters: int = 0,
) -> ZeroStateBytes:
    return right(parameters, recipe, gpus, stage or 3, offload, largest_layer_parameters if stage else 0)
