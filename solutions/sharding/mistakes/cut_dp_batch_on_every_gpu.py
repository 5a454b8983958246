"""Every GPU keeps the activations of the whole batch."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import held

EXERCISE = "data_parallel"
HINT = "Each GPU sees its own sequences only: divide the batch, not only the work."
FAILS = (
    "test_data_parallel_holds_the_whole_state_and_some_sequences",
    "test_where_sequences_do_not_divide_the_fuller_gpu_counts",
    "test_data_parallel_of_any_batch",
)


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    return held(right(gpt, batch, gpus), activations=right(gpt, batch, 1).held.activations)
