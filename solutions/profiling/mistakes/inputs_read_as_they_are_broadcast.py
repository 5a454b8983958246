"""Each input by element is read at the size of the result."""

from specs import DTYPE_BYTES, Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of, is_matmul, rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = "Broadcasting repeats no bytes: a row that is added to every row is read once, as it is."
FAILS = (
    "test_operations_by_element_read_what_is_there",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    if is_matmul(event):
        return right(event, gpu)
    found = right(event, gpu)
    size = DTYPE_BYTES[dtype_of(event)]  # type: ignore[index]
    return rebuilt(event, gpu, bytes_moved=(len(shapes_of(event)) + 1) * found.flops * size)
