"""The result's bytes are left out."""

from math import prod

from specs import DTYPE_BYTES, Event, Gpu, KernelEfficiency

from ._operations import dtype_of, rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = "The result crosses the bus as well: it is written once, as each input is read once."
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_one_row_is_held_against_the_bandwidth",
    "test_operations_by_element_read_what_is_there",
    "test_any_matmul",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    return rebuilt(event, gpu, bytes_moved=sum(map(prod, shapes_of(event))) * DTYPE_BYTES[dtype_of(event)])  # type: ignore[index]
