"""Each stage shards what the stage before it should."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import held

EXERCISE = "zero"
HINT = "You start one stage late: what does stage 1 shard?"
FAILS = (
    "test_each_stage_of_zero_shards_one_thing_more",
    "test_zero_pads_every_unit",
    "test_any_stage_of_zero",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    if stage == 1:
        return held(got, optimizer=gpt.parameters * 12)
    return held(got, **right(gpt, batch, gpus, stage - 1).held.model_dump())
