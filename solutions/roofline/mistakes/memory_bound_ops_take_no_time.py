"""Only the time of matmuls and attention counts."""

from collections.abc import Sequence

from specs import Gpu, OpCost

EXERCISE = "predicted_mfu"
HINT = "The step is over when the last op is: memory-bound ops take time as well."
FAILS = (
    "test_mfu_by_pencil_and_paper",
    "test_big_matmuls_reach_the_peak_and_the_rest_pulls_down",
    "test_a_7b_layer_could_reach_89_percent_and_2_when_it_decodes",
    "test_the_mfu_of_any_step",
)


def _once(op: OpCost, gpu: Gpu, dtype: str) -> float:
    return max(op.cost.flops / gpu.peak_flops(dtype), op.cost.bytes_moved / gpu.hbm_bytes_per_s)


def predicted_mfu(ops: Sequence[OpCost], gpu: Gpu, dtype: str) -> float:
    useful = sum(op.count * op.cost.flops for op in ops if op.kind != "memory")
    return useful / (
        sum(op.count * _once(op, gpu, dtype) for op in ops if op.kind != "memory") * gpu.peak_flops(dtype)
    )
