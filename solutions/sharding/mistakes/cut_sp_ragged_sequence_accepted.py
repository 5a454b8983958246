"""Tokens that do not divide are accepted."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right

EXERCISE = "sequence_parallel"
HINT = "The gathers here need equal shards: raise a ValueError where gpus does not divide the sequence."
FAILS = ("test_tokens_or_heads_that_do_not_divide_are_refused",)
SYMPTOMS = ("accepts 10 tokens on 4 GPUs",)


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    if gpt.sequence % gpus:
        return right(
            gpt.model_copy(update={"sequence": -(-gpt.sequence // gpus) * gpus}),
            micro_batch,
            microbatches,
            gpus,
        )
    return right(gpt, micro_batch, microbatches, gpus)
