"""The last stage has no head."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import held

EXERCISE = "pipeline_parallel"
HINT = "The last stage turns the residual stream into logits: it needs its own copy of the token embedding."
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    return held(got, fewer=gpt.token_embedding) if stages > 1 and stage == stages - 1 else got
