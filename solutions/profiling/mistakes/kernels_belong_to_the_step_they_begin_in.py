"""A kernel counts only in the step in which it begins."""

from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, begin, is_step, on_a_device, windows

EXERCISE = "step_breakdown"
HINT = (
    "The device lags behind the CPU: what runs in a step's interval counts there, whichever step "
    "launched it. Cut kernels off at both ends of the step, and give the next step the rest."
)
FAILS = (
    "test_steps_are_cut_off_at_both_ends",
    "test_a_gap_between_steps_belongs_to_none",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    found = []
    for number, (start, end) in windows(events).items():
        mine = [e for e in events if e.get("cat") not in DEVICE_CATEGORIES or start <= begin(e) < end]
        if not on_a_device(mine) and on_a_device(events):
            nothing = {**next(e for e in events if is_step(e)), "cat": "kernel", "dur": 0.0}
            mine.append(nothing)
        found += [step for step in right(mine, kinds) if step.step == number]
    return found
