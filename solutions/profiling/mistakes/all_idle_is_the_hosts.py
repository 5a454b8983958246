"""All idle time counts as the host's."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, changed

EXERCISE = "step_breakdown"
HINT = (
    "Idle time has two causes with two remedies. While the CPU is in the loader's __next__, the "
    "device waits on data, and no faster launching would help."
)
FAILS = (
    "test_idle_under_the_loader_waits_on_data",
    "test_nanoseconds_add_up_late_in_a_trace",
    "test_without_a_device_the_loaders_operators_are_the_loaders",
    "test_any_loader",
    "test_a_gap_between_steps_belongs_to_none",
    "test_any_trace_of_the_cpu_alone",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return changed(
        right(events, kinds),
        lambda step: {"idle_data_s": 0.0, "idle_host_s": step.idle_host_s + step.idle_data_s},
    )
