"""Every stage keeps the activations of one micro-batch."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import held

EXERCISE = "pipeline_parallel"
HINT = "Before the first backward comes home, the first stage has started several micro-batches: how many under 1F1B?"
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    return held(got, activations=got.held.activations / min(stages - stage, microbatches))
