"""More stages than layers are accepted."""

from specs import Gpt, GpuShare

from ..cuts import pipeline_parallel as right

EXERCISE = "pipeline_parallel"
HINT = "A stage without a layer is a mistake of whoever asked: raise a ValueError where stages exceeds the layers."
FAILS = ("test_more_stages_than_layers_are_refused",)
SYMPTOMS = ("accepts 7 stages for 6 layers",)


def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    if stages > gpt.layers:
        return right(gpt.model_copy(update={"layers": stages}), micro_batch, microbatches, stages, stage)
    return right(gpt, micro_batch, microbatches, stages, stage)
