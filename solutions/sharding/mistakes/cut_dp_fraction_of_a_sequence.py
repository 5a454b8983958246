"""Sequences that do not divide are shared as fractions."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import held

EXERCISE = "data_parallel"
HINT = (
    "A sequence is not cut here: one GPU takes one more, and it is the one that must not run out of memory."
)
FAILS = ("test_where_sequences_do_not_divide_the_fuller_gpu_counts", "test_data_parallel_of_any_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return held(right(gpt, batch, gpus), activations=right(gpt, batch, 1).held.activations / gpus)
