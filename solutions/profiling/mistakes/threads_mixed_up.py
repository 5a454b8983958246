"""Operators of one thread are nested in those of another."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = "Two threads run at once: an operator is nested in another one only if both have the same pid and tid."
FAILS = (
    "test_without_a_device_operators_count_with_their_self_time",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return right([{**event, "tid": 1} if event.get("cat") == "cpu_op" else event for event in events], kinds)
