"""The classes that are handed in are not used."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = "kinds says what each name is, and classify_kernel only what a name is that kinds lacks."
FAILS = ("test_kinds_outrank_the_names",)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    return right(events)
