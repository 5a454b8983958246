"""FLOPs are multiplied by the number of inputs."""

from specs import Cost, DType

from ..costs import elementwise_cost as right

EXERCISE = "memory_bound_costs"
HINT = "flops_per_element is over all inputs together: the number of inputs changes bytes and no FLOPs."
FAILS = (
    "test_elementwise_reads_every_input_and_writes_one_result",
    "test_any_elementwise_operation",
)


def elementwise_cost(elements: int, inputs: int, flops_per_element: float, dtype: DType) -> Cost:
    got = right(elements, inputs, flops_per_element, dtype)
    return got.model_copy(update={"flops": inputs * got.flops})
