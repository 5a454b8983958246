"""A tensor of shape [] is taken for a scalar."""

from specs import DTYPE_BYTES, Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of, rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = "A tensor may have no dimensions and one element: Input type says that it is a tensor, and it is read."
FAILS = (
    "test_operations_by_element_read_what_is_there",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    single = shapes_of(event).count(())
    size = DTYPE_BYTES[dtype_of(event)]  # type: ignore[index]
    return rebuilt(event, gpu, bytes_moved=right(event, gpu).bytes_moved - single * size)
