"""The higher of the two ceilings."""

from specs import DType, Gpu

EXERCISE = "roofline_model"
HINT = "Both ceilings hold at once, so the lower one stops you."
FAILS = ("test_the_roof_rises_to_the_ridge_and_is_flat_beyond", "test_any_roof")


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return max(gpu.peak_flops(dtype), intensity * gpu.hbm_bytes_per_s)
