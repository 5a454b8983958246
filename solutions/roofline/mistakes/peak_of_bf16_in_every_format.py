"""The peak of bf16 is used for every format."""

from collections.abc import Sequence

from specs import Gpu, OpCost, StepTime

EXERCISE = "layer_costs"
HINT = "The peak depends on dtype: gpu.peak_flops(dtype)."
FAILS = ("test_each_op_of_a_step_has_its_own_bound", "test_the_time_of_any_step")


def step_time(ops: Sequence[OpCost], gpu: Gpu, dtype: str) -> StepTime:
    seconds = {"matmul": 0.0, "attention": 0.0, "memory": 0.0}
    for op in ops:
        once = max(op.cost.flops / gpu.peak_flops("bf16"), op.cost.bytes_moved / gpu.hbm_bytes_per_s)
        seconds[op.kind] += op.count * once
    return StepTime(**seconds)
