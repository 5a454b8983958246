"""Only kernels that lie in a step as a whole count."""

from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, is_step, on_a_device, windows, within

EXERCISE = "step_breakdown"
HINT = (
    "A kernel that runs across a step's border belongs to both steps: cut it off at the border, and "
    "do not leave it out."
)
FAILS = (
    "test_steps_are_cut_off_at_both_ends",
    "test_a_gap_between_steps_belongs_to_none",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    found = []
    for number, (start, end) in windows(events).items():
        inside = [e for e in events if e.get("cat") not in DEVICE_CATEGORIES or within(e, start, end)]
        if not on_a_device(inside) and on_a_device(events):
            nothing = {**next(e for e in events if is_step(e)), "cat": "kernel", "dur": 0.0}
            inside.append(nothing)
        found += [step for step in right(inside, kinds) if step.step == number]
    return found
