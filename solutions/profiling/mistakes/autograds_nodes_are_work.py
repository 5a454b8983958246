"""Autograd's nodes count as work."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = (
    "AddmmBackward0 and autograd::engine::evaluate_function only call operators: what they take "
    "themselves is the host's overhead. Only names with a namespace such as aten are operators."
)
FAILS = (
    "test_without_a_device_operators_count_with_their_self_time",
    "test_any_trace_of_the_cpu_alone",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    nodes = [
        {**event, "name": "aten::node"}
        if event.get("cat") == "cpu_op" and "Backward" in event["name"]
        else event
        for event in events
    ]
    return right(nodes, kinds)
