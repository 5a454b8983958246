"""Gradients of norms are all-reduced for every micro-batch."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import scaled

EXERCISE = "sequence_parallel"
HINT = "Gradients add up over the micro-batches on each GPU: the norms' are all-reduced once, at the end of the step."
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(right(gpt, micro_batch, microbatches, gpus), "gradients", count=microbatches)
