"""The result of an elementwise operation is not written."""

from specs import Cost, DType

from ..costs import elementwise_cost as right

EXERCISE = "memory_bound_costs"
HINT = "An elementwise operation writes its result to HBM, as many bytes as one input."
FAILS = (
    "test_elementwise_reads_every_input_and_writes_one_result",
    "test_any_elementwise_operation",
)


def elementwise_cost(elements: int, inputs: int, flops_per_element: float, dtype: DType) -> Cost:
    return right(elements, inputs, flops_per_element, dtype).model_copy(update={"bytes_written": 0})
