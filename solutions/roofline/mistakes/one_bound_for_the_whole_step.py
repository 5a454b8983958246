"""The slower bill is chosen for the sum of all ops."""

from collections.abc import Sequence

from specs import Gpu, OpCost

EXERCISE = "predicted_mfu"
HINT = "Ops run one after another: each has its own bound, and their times add."
FAILS = (
    "test_mfu_by_pencil_and_paper",
    "test_big_matmuls_reach_the_peak_and_the_rest_pulls_down",
    "test_a_7b_layer_could_reach_89_percent_and_2_when_it_decodes",
    "test_the_mfu_of_any_step",
)


def predicted_mfu(ops: Sequence[OpCost], gpu: Gpu, dtype: str) -> float:
    useful = sum(op.count * op.cost.flops for op in ops if op.kind != "memory")
    flops = sum(op.count * op.cost.flops for op in ops)
    moved = sum(op.count * op.cost.bytes_moved for op in ops)
    time_s = max(flops / gpu.peak_flops(dtype), moved / gpu.hbm_bytes_per_s)
    return useful / (time_s * gpu.peak_flops(dtype))
