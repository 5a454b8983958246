"""Two ceilings, one ridge between them."""

import math

from specs import DTYPE_BYTES, Cost, DType, Gpu


def arithmetic_intensity(cost: Cost) -> float:
    if cost.bytes_moved == 0:
        return math.inf
    return cost.flops / cost.bytes_moved


def ridge_point(gpu: Gpu, dtype: DType) -> float:
    return gpu.peak_flops(dtype) / gpu.hbm_bytes_per_s


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    if intensity >= ridge_point(gpu, dtype):
        return gpu.peak_flops(dtype)
    return gpu.hbm_bytes_per_s * intensity


def two_bills(cost: Cost, gpu: Gpu, dtype: DType) -> tuple[float, float]:
    return cost.flops / gpu.peak_flops(dtype), cost.bytes_moved / gpu.hbm_bytes_per_s


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    return max(two_bills(cost, gpu, dtype))


def bound(cost: Cost, gpu: Gpu, dtype: DType) -> str:
    math_s, traffic_s = two_bills(cost, gpu, dtype)
    if math_s < traffic_s:
        return "memory"
    return "compute"


def critical_batch(
    gpu: Gpu, compute: DType, weights: DType, inputs: int | None = None, outputs: int | None = None
) -> float:
    R = ridge_point(gpu, compute)
    if inputs is None:
        # 2 B i o = R w i o
        return R * DTYPE_BYTES[weights] / 2
    # 2 B i o = R (w i o + a B (i + o)), solve for B
    left = 2 * inputs * outputs - R * DTYPE_BYTES[compute] * (inputs + outputs)
    if left <= 0:
        return math.inf
    return R * DTYPE_BYTES[weights] * inputs * outputs / left
