"""Every operation reaches the peak."""

from specs import DType, Gpu

EXERCISE = "roofline_model"
HINT = "Left of the ridge the card waits for bytes. How many FLOP/s does the bandwidth feed there?"
FAILS = ("test_the_roof_rises_to_the_ridge_and_is_flat_beyond", "test_any_roof")


def attainable_flops(intensity: float, gpu: Gpu, dtype: DType) -> float:
    return gpu.peak_flops(dtype)
