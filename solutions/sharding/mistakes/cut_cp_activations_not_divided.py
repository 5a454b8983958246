"""Activations are those of the whole sequence."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import held

EXERCISE = "context_parallel"
HINT = "A GPU keeps the activations of its own tokens, s / gpus of each sequence."
FAILS = ("test_context_parallel_holds_its_tokens_and_no_scores", "test_context_parallel_of_any_model")


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    return held(got, activations=got.held.activations * gpus)
