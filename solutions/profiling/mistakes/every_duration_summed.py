"""Every part is a plain sum of durations, and the step less all of them is idle, even below zero."""

import math
from collections.abc import Sequence

from specs import Event, StepBreakdown

from ._steps import Kinds
from ._sums import plain_sums

EXERCISE = "step_breakdown"
HINT = (
    "Your parts are sums of durations, so time in which two things run counts twice and idle time is short by it, or "
    "below zero. Turn each class into a union of intervals, and take from it the time of the classes before it."
)
FAILS = (
    "test_time_that_two_kernels_share_counts_once",
    "test_communication_is_exposed_where_nothing_else_runs",
    "test_idle_under_the_loader_waits_on_data",
    "test_nanoseconds_add_up_late_in_a_trace",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
    "test_a_gap_between_steps_belongs_to_none",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return plain_sums(events, kinds, -math.inf)
