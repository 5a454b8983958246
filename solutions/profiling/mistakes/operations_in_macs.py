"""A multiplication and its addition count as one FLOP."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right
from ._operations import is_matmul, rebuilt

EXERCISE = "kernel_efficiency"
HINT = (
    "Peaks count FLOPs: each of the m · n · k steps of a matmul is a multiplication and an addition, "
    "two of them."
)
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_one_row_is_held_against_the_bandwidth",
    "test_any_matmul",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found = right(event, gpu)
    return rebuilt(event, gpu, flops=found.flops / 2) if is_matmul(event) else found
