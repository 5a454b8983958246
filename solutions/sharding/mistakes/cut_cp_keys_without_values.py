"""Only keys are passed on."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import scaled

EXERCISE = "context_parallel"
HINT = "A message holds keys and values: two tensors as wide as the residual stream."
FAILS = (
    "test_keys_and_values_go_round_twice_and_their_gradients_once",
    "test_context_parallel_sends_for_any_model",
)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, gpus), "keys_values", "keys_values_gradients", sent=0.5
    )
