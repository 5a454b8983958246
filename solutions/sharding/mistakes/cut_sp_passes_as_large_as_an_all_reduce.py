"""A gather or a reduce-scatter is counted like a whole all-reduce."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import scaled

EXERCISE = "sequence_parallel"
HINT = "A gather or a reduce-scatter is one pass round the ring, an all-reduce two."
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(right(gpt, micro_batch, microbatches, gpus), "activations", "activation_gradients", sent=2)
