"""Keys and values are passed on n times."""

from specs import Gpt, GpuShare

from ..cuts import context_parallel as right
from ._shares import scaled

EXERCISE = "context_parallel"
HINT = "After n - 1 hops every GPU has seen every block; keys and values need not come home."
FAILS = (
    "test_keys_and_values_go_round_twice_and_their_gradients_once",
    "test_context_parallel_sends_for_any_model",
)


def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    return scaled(got, "keys_values", count=gpus / (gpus - 1), sent=gpus / (gpus - 1)) if gpus > 1 else got
