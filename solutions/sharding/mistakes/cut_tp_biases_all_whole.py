"""All biases are whole on every GPU."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = (
    "The bias of a column-parallel linear goes with its columns: q, k, v and MLP up have biases that are cut."
)
FAILS = (
    "test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks",
    "test_rows_of_the_embedding_are_padded",
    "test_tensor_parallel_of_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    return held(got, fewer=-gpt.layers * gpt.column_biases * (gpus - 1) / gpus)
