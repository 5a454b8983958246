"""Stage 3 gathers the weights once."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import scaled

EXERCISE = "zero"
HINT = "Weights are dropped after forward: backward has to gather them a second time."
FAILS = (
    "test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again",
    "test_any_stage_of_zero_sends",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    return scaled(got, "weights", count=0.5, sent=0.5) if stage == 3 else got
