"""Steps are sorted by their names."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = "As text ProfilerStep#10 comes before ProfilerStep#9: sort by the number."
FAILS = (
    "test_steps_are_cut_off_at_both_ends",
    "test_a_gap_between_steps_belongs_to_none",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return sorted(right(events, kinds), key=lambda step: str(step.step))
