"""Layers that do not divide are left out."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right

EXERCISE = "pipeline_parallel"
HINT = "Six layers on four stages are not 1, 1, 1, 1: the layers that are left over go to the first stages."
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    if 0 < stages <= gpt.layers:
        gpt = gpt.model_copy(update={"layers": gpt.layers // stages * stages})
    return right(gpt, micro_batch, microbatches, stages, stage)
