"""One micro-batch too few is in flight."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import held

EXERCISE = "pipeline_parallel"
HINT = "Off by one: the last stage, too, has one micro-batch between its forward and its backward."
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    in_flight = min(stages - stage, microbatches)
    return held(
        got, activations=got.held.activations // in_flight * max(min(stages - stage - 1, microbatches), 1)
    )
