"""The embedding's gradient is all-reduced over all stages."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import scaled

EXERCISE = "pipeline_parallel"
HINT = "The gradient of the embedding is shared by two stages, not by all: n is 2 in its all-reduce."
FAILS = ("test_a_stage_sends_on_forward_and_back_backward", "test_any_stage_sends")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, stages, stage), "gradients", sent=2 * (stages - 1) / stages
    )
