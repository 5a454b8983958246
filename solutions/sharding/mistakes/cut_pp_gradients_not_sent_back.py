"""No stage sends gradients back."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import without

EXERCISE = "pipeline_parallel"
HINT = "Backward crosses the same borders the other way: the stage before needs the gradient of what it sent."
FAILS = ("test_a_stage_sends_on_forward_and_back_backward", "test_any_stage_sends")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    return without(right(gpt, micro_batch, microbatches, stages, stage), "send", "activation_gradients")
