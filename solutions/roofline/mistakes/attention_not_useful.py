"""Attention's FLOPs do not count as the model's."""

from collections.abc import Sequence

from specs import Gpu, OpCost

EXERCISE = "predicted_mfu"
HINT = "Attention is two matmuls: its FLOPs are the model's too."
FAILS = (
    "test_mfu_by_pencil_and_paper",
    "test_a_7b_layer_could_reach_89_percent_and_2_when_it_decodes",
    "test_the_mfu_of_any_step",
)


def _once(op: OpCost, gpu: Gpu, dtype: str) -> float:
    return max(op.cost.flops / gpu.peak_flops(dtype), op.cost.bytes_moved / gpu.hbm_bytes_per_s)


def predicted_mfu(ops: Sequence[OpCost], gpu: Gpu, dtype: str) -> float:
    useful = sum(op.count * op.cost.flops for op in ops if op.kind == "matmul")
    return useful / (sum(op.count * _once(op, gpu, dtype) for op in ops) * gpu.peak_flops(dtype))
