"""At stages 1 and 2 the new weights are not gathered."""

from specs import Gpt, GpuShare

from ..cuts import zero as right
from ._shares import without

EXERCISE = "zero"
HINT = "Each GPU has updated its own shard. How do the others come by it before the next forward?"
FAILS = (
    "test_zero_1_and_2_send_what_data_parallel_sends_and_3_half_as_much_again",
    "test_any_stage_of_zero_sends",
)


def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    got = right(gpt, batch, gpus, stage)
    return got if stage == 3 else without(got, "all_gather", "weights")
