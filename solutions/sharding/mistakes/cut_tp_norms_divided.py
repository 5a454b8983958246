"""Norms and row biases are divided too."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = "Norms and the biases behind row-parallel linears work on the whole residual stream: every GPU has them whole."
FAILS = (
    "test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks",
    "test_rows_of_the_embedding_are_padded",
    "test_tensor_parallel_of_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    gone = gpt.layers * (gpt.row_biases + gpt.norms) * (gpus - 1) / gpus
    return held(got, fewer=gone)
