"""Sequences that do not divide are left out."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import held

EXERCISE = "data_parallel"
HINT = "You round the share down: whoever gets one of the left-over sequences has one more."
FAILS = ("test_where_sequences_do_not_divide_the_fuller_gpu_counts", "test_data_parallel_of_any_batch")


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return held(
        right(gpt, batch, gpus), activations=right(gpt, max(batch // gpus, 1) * gpus, gpus).held.activations
    )
