"""Activations are those of tensor parallel alone."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import held

EXERCISE = "sequence_parallel"
HINT = "The point of sequence parallel is the other 10·s·b·h: norms and dropouts see s/t tokens only."
FAILS = ("test_sequence_parallel_divides_all_activations", "test_sequence_parallel_of_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    outside = gpt.layers * 10 * gpt.sequence * micro_batch * gpt.hidden
    return held(got, activations=got.held.activations + outside - outside // gpus)
