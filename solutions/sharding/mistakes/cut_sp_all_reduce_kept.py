"""The all-reduces of tensor parallel are kept beside the new collectives."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ..cuts import tensor_parallel as _tensor_parallel

EXERCISE = "sequence_parallel"
HINT = "The all-gather and the reduce-scatter stand in the place of the all-reduces: do not count both."
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    kept = _tensor_parallel(gpt, micro_batch, microbatches, gpus).collectives
    return got.model_copy(update={"collectives": tuple(sorted((*got.collectives, *kept), key=str))})
