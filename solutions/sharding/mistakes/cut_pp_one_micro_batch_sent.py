"""The messages of one micro-batch are counted."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import scaled

EXERCISE = "pipeline_parallel"
HINT = "Each micro-batch crosses the border by itself: count all of them."
FAILS = ("test_a_stage_sends_on_forward_and_back_backward", "test_any_stage_sends")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    return scaled(got, "activations", "activation_gradients", count=1 / microbatches, sent=1 / microbatches)
