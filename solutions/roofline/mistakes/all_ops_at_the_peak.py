"""Every op runs at the peak."""

from collections.abc import Sequence

from specs import Gpu, OpCost, StepTime

EXERCISE = "layer_costs"
HINT = "Most ops wait for memory: compare with bytes over bandwidth."
FAILS = ("test_each_op_of_a_step_has_its_own_bound", "test_the_time_of_any_step")


def step_time(ops: Sequence[OpCost], gpu: Gpu, dtype: str) -> StepTime:
    seconds = {"matmul": 0.0, "attention": 0.0, "memory": 0.0}
    for op in ops:
        seconds[op.kind] += op.count * op.cost.flops / gpu.peak_flops(dtype)
    return StepTime(**seconds)
