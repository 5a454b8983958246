"""The bandwidth's slope goes on above the peak."""

from specs import DType, Gpu

EXERCISE = "roofline_model"
HINT = "The slope ends at the ridge: no intensity lifts an operation above the peak."
FAILS = ("test_the_roof_rises_to_the_ridge_and_is_flat_beyond", "test_any_roof")


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return intensity * gpu.hbm_bytes_per_s
