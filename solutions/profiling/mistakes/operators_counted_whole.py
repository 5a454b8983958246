"""An operator counts with all of its interval, whatever is nested in it."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds

EXERCISE = "step_breakdown"
HINT = (
    "An operator's interval has those of the operators that it calls in it: aten::linear would count "
    "the copy inside as matmul. Subtract what is nested on the same thread."
)
FAILS = (
    "test_without_a_device_operators_count_with_their_self_time",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    apart = [
        {**event, "tid": index} if event.get("cat") == "cpu_op" else event
        for index, event in enumerate(events)
    ]
    return right(apart, kinds)
