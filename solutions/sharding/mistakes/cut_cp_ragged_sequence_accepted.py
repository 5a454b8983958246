"""Tokens that do not divide are accepted."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right

EXERCISE = "context_parallel"
HINT = "The blocks here are of one size: raise a ValueError where gpus does not divide the sequence."
FAILS = ("test_a_sequence_that_does_not_divide_is_refused",)
SYMPTOMS = ("accepts 12 tokens on 5 GPUs",)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    if gpus > 0 and gpt.sequence % gpus:
        gpt = gpt.model_copy(update={"sequence": -(-gpt.sequence // gpus) * gpus})
    return right(gpt, micro_batch, microbatches, gpus)
