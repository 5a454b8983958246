"""The residual stream is taken for replicated."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import named

EXERCISE = "sequence_parallel"
HINT = "Between the blocks each GPU has s/t tokens of the residual stream, and no more."
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return named(right(gpt, micro_batch, microbatches, gpus), "residual_activations", "replicated")
