"""A layer has one all-reduce a direction."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import scaled

EXERCISE = "tensor_parallel"
HINT = "A layer has two blocks, attention and MLP, and each ends with a sum."
FAILS = (
    "test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch",
    "test_tensor_parallel_sends_for_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, gpus),
        "activations",
        "activation_gradients",
        count=0.5,
        sent=0.5,
    )
