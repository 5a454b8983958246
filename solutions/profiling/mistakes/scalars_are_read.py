"""Arguments that are no tensors are read as one element each."""

from specs import DTYPE_BYTES, Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of, rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = (
    "Input Dims is [] for a scalar too, and for None: only Input type says whether an argument is a "
    "tensor. alpha and beta are no bytes."
)
FAILS = (
    "test_one_row_is_held_against_the_bandwidth",
    "test_operations_by_element_read_what_is_there",
    "test_any_matmul",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    others = len(event["args"]["Input type"]) - len(shapes_of(event))
    size = DTYPE_BYTES[dtype_of(event)]  # type: ignore[index]
    return rebuilt(event, gpu, bytes_moved=right(event, gpu).bytes_moved + others * size)
