"""The state is divided by the GPUs."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import held

EXERCISE = "context_parallel"
HINT = "Context parallel cuts the sequence. Every GPU needs all of the weights, and has all of their state."
FAILS = ("test_context_parallel_holds_its_tokens_and_no_scores", "test_context_parallel_of_any_model")


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    return held(got, fewer=gpt.parameters * (gpus - 1) / gpus)
