"""The slower bill is chosen for the sum of all ops of a kind."""

from collections.abc import Sequence

from specs import Gpu, OpCost, StepTime

EXERCISE = "layer_costs"
HINT = "Each op has its own bound: choose the slower bill for every op, then add."
FAILS = ("test_each_op_of_a_step_has_its_own_bound", "test_the_time_of_any_step")


def step_time(ops: Sequence[OpCost], gpu: Gpu, dtype: str) -> StepTime:
    seconds = {"matmul": 0.0, "attention": 0.0, "memory": 0.0}
    for kind in seconds:
        flops = sum(op.count * op.cost.flops for op in ops if op.kind == kind)
        moved = sum(op.count * op.cost.bytes_moved for op in ops if op.kind == kind)
        seconds[kind] = max(flops / gpu.peak_flops(dtype), moved / gpu.hbm_bytes_per_s)
    return StepTime(**seconds)
