"""A bias is read once for every row."""

from specs import DTYPE_BYTES, Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import dtype_of, rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = (
    "A bias of n elements is read once and stays on the chip: what is broadcast is not stored, and "
    "not read, at its full size."
)
FAILS = (
    "test_one_row_is_held_against_the_bandwidth",
    "test_any_matmul",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found, shapes = right(event, gpu), shapes_of(event)
    if event["name"] != "aten::addmm" or len(shapes[0]) != 1:
        return found
    more = (shapes[1][0] - 1) * shapes[0][0] * DTYPE_BYTES[dtype_of(event)]  # type: ignore[index]
    return rebuilt(event, gpu, bytes_moved=found.bytes_moved + more)
