"""A batched matmul counts one of its matrices."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import rebuilt, shapes_of

EXERCISE = "kernel_efficiency"
HINT = "bmm is a matmul for each matrix of the batch: b times the FLOPs, and b times the bytes."
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_any_matmul",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found = right(event, gpu)
    if event["name"] != "aten::bmm":
        return found
    batch = shapes_of(event)[0][0]
    return rebuilt(event, gpu, flops=found.flops / batch, bytes_moved=found.bytes_moved / batch)
