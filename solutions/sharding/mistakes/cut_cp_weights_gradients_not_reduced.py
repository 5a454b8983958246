"""The gradients of the weights are not all-reduced."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import without

EXERCISE = "context_parallel"
HINT = "The weights are replicated and each GPU saw other tokens: that is data parallel as far as weights go."
FAILS = (
    "test_keys_and_values_go_round_twice_and_their_gradients_once",
    "test_context_parallel_sends_for_any_model",
)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return without(right(gpt, micro_batch, microbatches, gpus), "all_reduce", "gradients")
