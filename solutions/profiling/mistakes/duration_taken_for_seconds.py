"""dur is taken for seconds."""

from specs import Event, Gpu, KernelEfficiency

from ..efficiency import kernel_efficiency as right

EXERCISE = "kernel_efficiency"
HINT = "dur is in microseconds: a million of them are a second."
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_one_row_is_held_against_the_bandwidth",
    "test_operations_by_element_read_what_is_there",
    "test_any_matmul",
    "test_any_operation_by_element",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    found = right(event, gpu)
    return found.model_copy(update={"efficiency": found.efficiency / 1e6})
