"""The token embedding is not cut."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = "The token embedding is cut by its rows: each GPU has a part of the vocabulary."
FAILS = (
    "test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks",
    "test_rows_of_the_embedding_are_padded",
    "test_tensor_parallel_of_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    own = -(-gpt.vocab // gpus) * gpt.hidden
    return held(got, fewer=own - gpt.token_embedding)
