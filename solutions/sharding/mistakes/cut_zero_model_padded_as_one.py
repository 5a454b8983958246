"""The whole model is padded once, not each unit."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held, scaled

EXERCISE = "zero"
HINT = "Each unit is padded by itself, so the rounding up comes before the sum over units."
FAILS = (
    "test_zero_pads_every_unit",
    "test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again",
    "test_any_stage_of_zero",
    "test_any_stage_of_zero_sends",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    shard = -(-gpt.parameters // gpus)
    own = got.held.optimizer // 12
    got = held(got, fewer=own - shard, of=("optimizer", "gradients", "weights")[:stage])
    return scaled(got, "weights", "gradients", sent=shard / own)
