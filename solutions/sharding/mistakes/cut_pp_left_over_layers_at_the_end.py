"""Layers that do not divide go to the last stages."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right
from ._shares import held

EXERCISE = "pipeline_parallel"
HINT = "The layers that are left over go to the first stages here, not to the last."
FAILS = ("test_the_first_stage_holds_most", "test_any_stage_of_any_pipeline")


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, stages, stage)
    extra = gpt.layers % stages
    change = (stage >= stages - extra) - (stage < extra)
    layers = gpt.layers // stages + (stage < extra)
    activations = got.held.activations // layers * (layers + change)
    return held(held(got, fewer=-change * gpt.layer), activations=activations)
