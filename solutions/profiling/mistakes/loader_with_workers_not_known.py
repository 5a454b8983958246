"""Only the loader without worker processes is known."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = (
    "With workers the annotation is called _MultiProcessingDataLoaderIter: look for "
    "enumerate(DataLoader)# at the beginning and __next__ at the end."
)
FAILS = (
    "test_idle_under_the_loader_waits_on_data",
    "test_any_loader",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return right([event for event in events if "_MultiProcessing" not in str(event.get("name"))], kinds)
