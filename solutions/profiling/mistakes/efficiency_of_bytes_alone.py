"""Only the bandwidth counts."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right

EXERCISE = "kernel_efficiency"
HINT = "A large matmul does not wait for its bytes: its roof is the peak. Take the longer of both bills."
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_any_matmul",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found = right(event, gpu)
    roofline_s = found.bytes_moved / gpu.hbm_bytes_per_s
    return KernelEfficiency(found.flops, found.bytes_moved, roofline_s, roofline_s / (event["dur"] / 1e6))
