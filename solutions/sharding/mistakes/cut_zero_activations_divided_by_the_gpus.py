"""Activations are shared out among the GPUs once more."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held

EXERCISE = "zero"
HINT = "ZeRO shards state, and no activations: a GPU keeps those of its own sequences whole, as under data parallel."
FAILS = (
    "test_each_stage_of_zero_shards_one_thing_more",
    "test_zero_pads_every_unit",
    "test_any_stage_of_zero",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    return held(got, activations=got.held.activations / gpus)
