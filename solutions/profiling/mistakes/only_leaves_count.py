"""An operator with another inside does not count at all."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ._steps import Kinds, begin, is_operator

EXERCISE = "step_breakdown"
HINT = (
    "An operator that calls another one works itself too: "
    "aten::_scaled_dot_product_flash_attention_for_cpu allocates its output by aten::empty and "
    "computes everything else. Its self time is what lies around."
)
FAILS = (
    "test_without_a_device_operators_count_with_their_self_time",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    ops = [(begin(e), begin(e) + round(1000 * e["dur"]), e) for e in events if is_operator(e)]
    outer = [
        id(event)
        for start, end, event in ops
        if any(
            other is not event
            and start <= begin_
            and end_ <= end
            and other["tid"] == event["tid"]
            and (begin_, end_) != (start, end)
            for begin_, end_, other in ops
        )
    ]
    return right([event for event in events if id(event) not in outer], kinds)
