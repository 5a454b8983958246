"""The ridge is bandwidth over peak."""

from specs import DType, Gpu

EXERCISE = "roofline_model"
HINT = "The ridge is an intensity, in FLOPs per byte. Which of the two rates is in FLOPs?"
FAILS = ("test_ridges_of_real_cards", "test_any_card")


def ridge_point(gpu: Gpu, dtype: DType) -> float:
    return gpu.hbm_bytes_per_s / gpu.peak_flops(dtype)
