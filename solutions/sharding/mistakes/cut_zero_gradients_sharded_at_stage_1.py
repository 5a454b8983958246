"""Gradients are sharded at stage 1 already."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held

EXERCISE = "zero"
HINT = "At stage 1 the whole gradient lies on every GPU until it is reduced at the end: stage 2 shards it."
FAILS = (
    "test_each_stage_of_zero_shards_one_thing_more",
    "test_zero_pads_every_unit",
    "test_any_stage_of_zero",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    return held(got, gradients=right(gpt, batch, gpus, 2).held.gradients)
