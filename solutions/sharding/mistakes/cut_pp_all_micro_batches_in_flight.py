"""Every stage keeps the activations of all micro-batches, as under GPipe."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import held

EXERCISE = "pipeline_parallel"
HINT = "That is GPipe. Under 1F1B a stage starts its first backward after min(stages - i, microbatches) forwards."
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    in_flight = min(stages - stage, microbatches)
    return held(got, activations=got.held.activations // in_flight * microbatches)
