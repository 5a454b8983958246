"""Only the peak counts: the efficiency is the achieved share of it."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of

EXERCISE = "kernel_efficiency"
HINT = (
    "A memory-bound operation cannot reach the peak: hold it against its own roof, the longer of both "
    "bills, or every addition looks bad."
)
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_one_row_is_held_against_the_bandwidth",
    "test_operations_by_element_read_what_is_there",
    "test_any_matmul",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found = right(event, gpu)
    roofline_s = found.flops / gpu.peak_flops(dtype_of(event))  # type: ignore[arg-type]
    return KernelEfficiency(found.flops, found.bytes_moved, roofline_s, roofline_s / (event["dur"] / 1e6))
