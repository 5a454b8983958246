"""Norms and row biases are divided, as the tokens are."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import held

EXERCISE = "sequence_parallel"
HINT = "Tokens are cut, not channels: each GPU normalises whole rows, and needs all of each norm."
FAILS = ("test_sequence_parallel_divides_all_activations", "test_sequence_parallel_of_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = right(gpt, micro_batch, microbatches, gpus)
    return held(got, fewer=gpt.layers * (gpt.row_biases + gpt.norms) * (gpus - 1) / gpus)
