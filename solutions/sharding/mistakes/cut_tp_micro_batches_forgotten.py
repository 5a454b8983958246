"""The collectives of one micro-batch are counted."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right

EXERCISE = "tensor_parallel"
HINT = "Activations differ from micro-batch to micro-batch: each of them pays its own all-reduces."
FAILS = (
    "test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch",
    "test_tensor_parallel_sends_for_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    one = right(gpt, micro_batch, 1, gpus)
    return got.model_copy(update={"collectives": one.collectives})
