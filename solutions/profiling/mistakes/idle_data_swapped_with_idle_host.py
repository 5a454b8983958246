"""Waiting on data and waiting on the host are swapped."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, changed

EXERCISE = "step_breakdown"
HINT = "idle_data is idle time under the loader's annotation, idle_host is all other idle time."
FAILS = (
    "test_work_goes_to_its_class_and_the_rest_is_idle",
    "test_time_that_two_kernels_share_counts_once",
    "test_communication_is_exposed_where_nothing_else_runs",
    "test_idle_under_the_loader_waits_on_data",
    "test_steps_are_cut_off_at_both_ends",
    "test_nanoseconds_add_up_late_in_a_trace",
    "test_without_a_device_operators_count_with_their_self_time",
    "test_without_a_device_the_loaders_operators_are_the_loaders",
    "test_without_kinds_your_classify_kernel_says_what_is_what",
    "test_kinds_outrank_the_names",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
    "test_a_gap_between_steps_belongs_to_none",
    "test_any_trace_of_the_cpu_alone",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return changed(
        right(events, kinds), lambda step: {"idle_data_s": step.idle_host_s, "idle_host_s": step.idle_data_s}
    )
