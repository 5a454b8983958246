"""A trace without a device is all idle."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, is_loader

EXERCISE = "step_breakdown"
HINT = (
    "Without a device the CPU's operators are the kernels: aten::addmm is a matmul there. A trace "
    "with no event of kernel, gpu_memcpy or gpu_memset is such a one."
)
FAILS = (
    "test_without_a_device_operators_count_with_their_self_time",
    "test_without_a_device_the_loaders_operators_are_the_loaders",
    "test_any_trace_of_the_cpu_alone",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return right([event for event in events if event.get("cat") != "cpu_op" or is_loader(event)], kinds)
