"""The second all-gather of the blocks' inputs, in backward, is forgotten."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import scaled

EXERCISE = "sequence_parallel"
HINT = "Only a shard of each block's input was kept. What does backward need it for, and how much of it?"
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, gpus), "activations", kind="all_gather", count=0.5, sent=0.5
    )
