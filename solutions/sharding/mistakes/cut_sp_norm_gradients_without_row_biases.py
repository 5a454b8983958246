"""The gradients of row biases are not all-reduced with those of the norms."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import scaled

EXERCISE = "sequence_parallel"
HINT = "The bias behind a row-parallel linear is added to s/t tokens too: its gradient is as partial as the norms'."
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    return scaled(
        right(gpt, micro_batch, microbatches, gpus),
        "gradients",
        sent=gpt.norms / (gpt.norms + gpt.row_biases),
    )
