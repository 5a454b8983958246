"""The gradients of norms and row biases are not all-reduced."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import without

EXERCISE = "sequence_parallel"
HINT = "A norm saw s/t tokens on each GPU. Whose gradient does each GPU have then?"
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return without(right(gpt, micro_batch, microbatches, gpus), "all_reduce", "gradients")
