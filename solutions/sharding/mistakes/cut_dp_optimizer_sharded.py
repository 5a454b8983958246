"""The optimizer state is shared out, as ZeRO-1 would."""

from specs import Gpt, GpuShare

from ..cuts import data_parallel as right
from ._shares import held

EXERCISE = "data_parallel"
HINT = "Plain data parallel shards no state: that would be ZeRO."
FAILS = (
    "test_data_parallel_holds_the_whole_state_and_some_sequences",
    "test_where_sequences_do_not_divide_the_fuller_gpu_counts",
    "test_data_parallel_of_any_batch",
)


def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    got = right(gpt, batch, gpus)
    return held(got, optimizer=got.held.optimizer / gpus)
