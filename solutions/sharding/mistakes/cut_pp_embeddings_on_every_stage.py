"""Every stage has the embeddings."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import held

EXERCISE = "pipeline_parallel"
HINT = "Only the ends need an embedding: tokens come in at the first stage, and the head is on the last."
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    if 0 < stage < stages - 1:
        return held(got, fewer=-gpt.token_embedding - gpt.position_embedding)
    return got
