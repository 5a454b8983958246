"""The collectives of the embeddings are not counted."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import scaled

EXERCISE = "zero"
HINT = "The embeddings are a unit of their own: there is one unit more than there are layers."
FAILS = (
    "test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again",
    "test_any_stage_of_zero_sends",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    own = got.held.optimizer // 12
    layers = gpt.layers * -(-gpt.layer // gpus)
    return scaled(got, "weights", "gradients", count=gpt.layers / (gpt.layers + 1), sent=layers / own)
