"""Blocks end with an all-gather in place of an all-reduce."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right

EXERCISE = "tensor_parallel"
HINT = "A row-parallel linear leaves each GPU a part of a sum, not a part of the output: gathering parts does not add them."
FAILS = (
    "test_tensor_parallel_all_reduces_four_times_a_layer_and_micro_batch",
    "test_tensor_parallel_sends_for_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    uses = tuple(
        use.model_copy(update={"kind": "all_gather", "sent_bytes": use.sent_bytes / 2})
        for use in got.collectives
    )
    return got.model_copy(update={"collectives": uses})
