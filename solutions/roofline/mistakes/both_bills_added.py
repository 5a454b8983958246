"""The times of computing and moving are added."""

from specs import Cost, DType, Gpu

EXERCISE = "roofline_model"
HINT = "Computing and moving overlap: you pay whichever bill is bigger, and not both."
FAILS = ("test_the_longer_bill_is_the_time", "test_any_time")


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    compute_s = cost.flops / gpu.peak_flops(dtype)
    memory_s = (cost.bytes_read + cost.bytes_written) / gpu.hbm_bytes_per_s
    return compute_s + memory_s
