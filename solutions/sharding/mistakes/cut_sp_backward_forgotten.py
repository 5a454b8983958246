"""The collectives of backward are forgotten."""

from specs import Gpt, GpuShare

from ..cuts import sequence_parallel as right
from ._shares import scaled, without

EXERCISE = "sequence_parallel"
HINT = "Each of forward's collectives has a mirror image in backward; you list forward only."
FAILS = ("test_sequence_parallel_gathers_and_scatters", "test_sequence_parallel_sends_for_any_model")


def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    got = without(
        without(right(gpt, micro_batch, microbatches, gpus), "all_gather", "activation_gradients"),
        "reduce_scatter",
        "activation_gradients",
    )
    return scaled(got, "activations", kind="all_gather", count=0.5, sent=0.5)
