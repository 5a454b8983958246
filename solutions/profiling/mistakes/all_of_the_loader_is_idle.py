"""All of the loader's time counts as waiting on data."""

from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event, StepBreakdown

from ._steps import Kinds, paired

EXERCISE = "step_breakdown"
HINT = (
    "The loader costs time only where the device is idle meanwhile: a batch that is fetched under "
    "running kernels is free."
)
FAILS = (
    "test_idle_under_the_loader_waits_on_data",
    "test_any_loader",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    bare = [event for event in events if event.get("cat") not in (*DEVICE_CATEGORIES, "cpu_op")]
    return paired(events, bare, kinds, lambda step, alone: {"idle_data_s": alone.idle_data_s})
