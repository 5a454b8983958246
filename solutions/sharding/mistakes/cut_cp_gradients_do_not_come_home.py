"""The gradients of keys and values make n - 1 hops."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import scaled

EXERCISE = "context_parallel"
HINT = "After n - 1 hops a block's gradient is complete, and still at the neighbour of its owner."
FAILS = (
    "test_keys_and_values_go_round_twice_and_their_gradients_once",
    "test_context_parallel_sends_for_any_model",
)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    share = (gpus - 1) / gpus
    return scaled(got, "keys_values_gradients", count=share, sent=share)
