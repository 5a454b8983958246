"""Only 1/t of the residual stream is all-reduced."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import scaled

EXERCISE = "tensor_parallel"
HINT = (
    "The partial sums are as large as the whole residual stream, s·b·h: that is the size of each all-reduce."
)
FAILS = (
    "test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch",
    "test_tensor_parallel_sends_for_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, gpus), "activations", "activation_gradients", sent=1 / gpus
    )
