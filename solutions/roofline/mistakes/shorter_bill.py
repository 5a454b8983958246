"""The shorter of the two times."""

from specs import Cost, DType, Gpu

EXERCISE = "roofline_model"
HINT = "The operation is done when both its bytes and its FLOPs are: which of the two do you wait for?"
FAILS = ("test_the_longer_bill_is_the_time", "test_any_time")


def time_s(cost: Cost, gpu: Gpu, dtype: DType) -> float:
    compute_s = cost.flops / gpu.peak_flops(dtype)
    memory_s = (cost.bytes_read + cost.bytes_written) / gpu.hbm_bytes_per_s
    return min(compute_s, memory_s)
