"""Every element has two bytes."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of, rebuilt

EXERCISE = "kernel_efficiency"
HINT = "Input type says how large an element is: float has four bytes, c10::Half and c10::BFloat16 have two."
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_operations_by_element_read_what_is_there",
    "test_any_matmul",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found = right(event, gpu)
    return rebuilt(event, gpu, bytes_moved=found.bytes_moved / 2) if dtype_of(event) == "fp32" else found
