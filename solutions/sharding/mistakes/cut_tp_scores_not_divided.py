"""The attention scores are not divided."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = "Each GPU has a/t of the heads, and each head its own scores: 5·a·s²·b is divided by t too."
FAILS = (
    "test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks",
    "test_rows_of_the_embedding_are_padded",
    "test_tensor_parallel_of_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    scores = gpt.layers * 5 * gpt.heads * gpt.sequence**2 * micro_batch
    got = right(gpt, micro_batch, microbatches, gpus)
    return held(got, activations=got.held.activations - scores // gpus + scores)
