"""All activations are divided by t, norms and dropouts too."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = "Norm inputs and dropout masks lie on the residual stream, which every GPU has whole: only sequence parallel cuts it."
FAILS = (
    "test_tensor_parallel_cuts_matrices_and_the_inside_of_blocks",
    "test_rows_of_the_embedding_are_padded",
    "test_tensor_parallel_of_any_model",
)


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return held(
        right(gpt, micro_batch, microbatches, gpus),
        activations=right(gpt, micro_batch, 1, 1).held.activations // gpus,
    )
