"""Every part is a plain sum of durations, and idle time that comes out below zero is set to zero."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ._steps import Kinds
from ._sums import plain_sums

EXERCISE = "step_breakdown"
HINT = (
    "An idle time that has to be kept from falling below zero says that something counted twice: your parts are sums "
    "of durations, and kernels overlap. Work with intervals: an instant goes to one part, the first in the order."
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
    return plain_sums(events, kinds, 0)
