"""The all-reduces of the backward pass are forgotten."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import without

EXERCISE = "tensor_parallel"
HINT = "Backward, the gradient of each block's input is a sum of parts too: there are as many all-reduces as forward."
FAILS = (
    "test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch",
    "test_tensor_parallel_sends_for_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return without(right(gpt, micro_batch, microbatches, gpus), "all_reduce", "activation_gradients")
