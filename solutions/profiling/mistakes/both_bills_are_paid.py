"""The two bills are added."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of

EXERCISE = "kernel_efficiency"
HINT = (
    "Arithmetic and traffic run at the same time: the roofline's time is the longer of the two, and "
    "not their sum."
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
    roofline_s = found.flops / gpu.peak_flops(dtype_of(event)) + found.bytes_moved / gpu.hbm_bytes_per_s  # type: ignore[arg-type]
    return KernelEfficiency(found.flops, found.bytes_moved, roofline_s, roofline_s / (event["dur"] / 1e6))
