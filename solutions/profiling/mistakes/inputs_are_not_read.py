"""Only the result's bytes count."""

from math import prod

from specs import DTYPE_BYTES, Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of, rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = "Every input is read once: a matmul of one row moves its weights, and hardly anything else."
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_one_row_is_held_against_the_bandwidth",
    "test_operations_by_element_read_what_is_there",
    "test_any_matmul",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    read = sum(map(prod, shapes_of(event))) * DTYPE_BYTES[dtype_of(event)]  # type: ignore[index]
    return rebuilt(event, gpu, bytes_moved=right(event, gpu).bytes_moved - read)
