"""The optimizer state is not sharded at stage 1."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held

EXERCISE = "zero"
HINT = (
    "The optimizer state is the largest tenant, 12 of 16 bytes: every stage shards it, the first above all."
)
FAILS = (
    "test_each_stage_of_zero_shards_one_thing_more",
    "test_zero_pads_every_unit",
    "test_any_stage_of_zero",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    return held(got, optimizer=got.held.optimizer if stage > 1 else gpt.parameters * 12)
