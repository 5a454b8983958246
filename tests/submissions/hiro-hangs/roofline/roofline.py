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
    def intensity(B: float) -> float:
        # per weight of the layer
        traffic = DTYPE_BYTES[weights]
        if inputs is not None:
            traffic += B * DTYPE_BYTES[compute] * (1 / inputs + 1 / outputs)
        return 2 * B / traffic

    R = ridge_point(gpu, compute)
    # walk up to the ridge, with ever smaller steps
    B, step = 0.0, 1024.0
    while step > 1e-10:
        while intensity(B + step) < R:
            B += step
        step /= 2
    return B
