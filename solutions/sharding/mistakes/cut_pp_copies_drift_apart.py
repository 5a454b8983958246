"""The two copies of the embedding do not share their gradient."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import without

EXERCISE = "pipeline_parallel"
HINT = "First and last stage have copies of one tensor, and each computes a part of its gradient. They must stay equal."
FAILS = ("test_a_stage_sends_on_forward_and_back_backward", "test_any_stage_sends")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    return without(right(gpt, micro_batch, microbatches, stages, stage), "all_reduce", "gradients")
