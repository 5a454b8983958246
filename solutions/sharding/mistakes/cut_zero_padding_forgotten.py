"""Shards are exact fractions of the model."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held, scaled

EXERCISE = "zero"
HINT = "Nobody has a fraction of an element: round each unit up to a multiple of gpus first."
FAILS = (
    "test_zero_pads_every_unit",
    "test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again",
    "test_any_stage_of_zero",
    "test_any_stage_of_zero_sends",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    shard = gpt.parameters / gpus
    own = got.held.optimizer // 12
    got = held(got, fewer=own - shard, of=("optimizer", "gradients", "weights")[:stage])
    return scaled(got, "weights", "gradients", sent=shard / own)
