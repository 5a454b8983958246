"""Overlapped communication is the whole time of communication."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, changed

EXERCISE = "step_breakdown"
HINT = (
    "overlapped_communication_s is the part under other work alone; together with the exposed part it "
    "is all of it."
)
FAILS = (
    "test_communication_is_exposed_where_nothing_else_runs",
    "test_nanoseconds_add_up_late_in_a_trace",
    "test_without_kinds_your_classify_kernel_says_what_is_what",
    "test_any_communication",
    "test_a_gap_between_steps_belongs_to_none",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return changed(
        right(events, kinds),
        lambda step: {
            "overlapped_communication_s": step.exposed_communication_s + step.overlapped_communication_s
        },
    )
