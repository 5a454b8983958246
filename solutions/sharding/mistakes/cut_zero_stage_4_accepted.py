"""A stage that does not exist is accepted."""

from specs import Gpt, GpuShare

from ..cuts import zero as right

EXERCISE = "zero"
HINT = "ZeRO has stages 1, 2 and 3 here: any other is a ValueError."
FAILS = ("test_zero_has_three_stages",)
SYMPTOMS = ("accepts stage 4",)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    return right(gpt, batch, gpus, min(max(stage, 1), 3))
