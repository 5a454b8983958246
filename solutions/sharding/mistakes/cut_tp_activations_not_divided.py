"""No activations are divided."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = (
    "Inside the blocks each GPU has its own heads and its own columns: 24·s·b·h and the scores are divided."
)
FAILS = (
    "test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks",
    "test_rows_of_the_embedding_are_padded",
    "test_tensor_parallel_of_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return held(
        right(gpt, micro_batch, microbatches, gpus),
        activations=right(gpt, micro_batch, 1, 1).held.activations,
    )
