"""Norms are taken for sharded."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import named

EXERCISE = "tensor_parallel"
HINT = (
    "Look at what a norm works on: the whole residual stream, on every GPU. Are its scale and bias cut, then?"
)
FAILS = (
    "test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch",
    "test_tensor_parallel_sends_for_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return named(right(gpt, micro_batch, microbatches, gpus), "norms", "sharded")
