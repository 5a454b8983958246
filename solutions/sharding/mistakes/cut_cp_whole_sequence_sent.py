"""Each hop carries the keys and values of the whole sequence."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import scaled

EXERCISE = "context_parallel"
HINT = "A hop carries one block, the keys and values of s / gpus tokens."
FAILS = (
    "test_keys_and_values_go_round_twice_and_their_gradients_once",
    "test_context_parallel_sends_for_any_model",
)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, gpus), "keys_values", "keys_values_gradients", sent=gpus
    )
