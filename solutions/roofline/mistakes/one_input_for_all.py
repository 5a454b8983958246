"""An elementwise operation reads one tensor, however many it has."""

from specs import Cost, DType

from ..costs import elementwise_cost as right

EXERCISE = "memory_bound_costs"
HINT = "You read one tensor. A residual addition has two inputs, and each of them is read."
FAILS = (
    "test_elementwise_reads_every_input_and_writes_one_result",
    "test_any_elementwise_operation",
)


def elementwise_cost(elements: int, inputs: int, flops_per_element: float, dtype: DType) -> Cost:
    got = right(elements, inputs, flops_per_element, dtype)
    return got.model_copy(update={"bytes_read": got.bytes_written})
