"""Every stage shards all of the state."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held

EXERCISE = "zero"
HINT = "That is stage 3. The stages before it keep weights, or weights and gradients, whole."
FAILS = (
    "test_each_stage_of_zero_shards_one_thing_more",
    "test_zero_pads_every_unit",
    "test_any_stage_of_zero",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    return held(right(gpt, batch, gpus, stage), **right(gpt, batch, gpus, 3).held.model_dump())
