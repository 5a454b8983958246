"""The rows of the token embedding are divided without padding."""

from specs import Gpt, GpuShare

from ..cuts import tensor_parallel as right
from ._shares import held

EXERCISE = "tensor_parallel"
HINT = "Rows of the embedding that do not divide are padded: every GPU has ceil(vocab / gpus) of them."
FAILS = ("test_rows_of_the_embedding_are_padded", "test_tensor_parallel_of_any_model")


def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    own = -(-gpt.vocab // gpus) * gpt.hidden
    return held(got, fewer=own - gpt.token_embedding / gpus)
