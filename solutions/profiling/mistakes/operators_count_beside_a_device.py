"""The CPU's operators count as work though there is a device."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, is_operator, on_a_device

EXERCISE = "step_breakdown"
HINT = (
    "With a device an operator of the CPU only launches: the work is its kernel, which runs later. "
    "Operators count in a trace without any device work alone."
)
FAILS = (
    "test_without_a_device_the_loaders_operators_are_the_loaders",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    ops = [{**event, "cat": "kernel"} for event in events if is_operator(event)]
    return right([*events, *ops] if on_a_device(events) else events, kinds)
