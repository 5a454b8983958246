"""The shadow of a step on the device counts as a step too."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = (
    "ProfilerStep#N is in a trace twice: on the CPU, user_annotation, and as its shadow on the "
    "device, gpu_user_annotation. Only the first is the step."
)
FAILS = (
    "test_steps_are_cut_off_at_both_ends",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
    "test_a_gap_between_steps_belongs_to_none",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    shadows = [
        event for event in events if event.get("cat") == "gpu_user_annotation" and "Step#" in event["name"]
    ]
    again = [{**event, "cat": "user_annotation"} for event in shadows]
    return right([*events, *again], kinds)
