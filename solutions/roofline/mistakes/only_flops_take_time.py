"""Bytes take no time."""

from specs import Cost, DType, Gpu

EXERCISE = "roofline_model"
HINT = "A copy does no FLOPs, and it takes time all the same."
FAILS = ("test_the_longer_bill_is_the_time", "test_any_time")


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    return cost.flops / gpu.peak_flops(dtype)
