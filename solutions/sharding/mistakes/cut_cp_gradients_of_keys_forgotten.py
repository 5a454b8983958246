"""The gradients of keys and values are not passed on."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import without

EXERCISE = "context_parallel"
HINT = "Every GPU's queries have a share in the gradient of every block of keys and values: who adds them up?"
FAILS = (
    "test_keys_and_values_go_round_twice_and_their_gradients_once",
    "test_context_parallel_sends_for_any_model",
)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return without(right(gpt, micro_batch, microbatches, gpus), "send", "keys_values_gradients")
