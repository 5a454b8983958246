"""A negative duration is taken as its absolute value."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "An event with a negative duration is broken, a clock that went backwards: it says nothing about "
    "when the device ran."
)
FAILS = (
    "test_a_broken_event_does_not_count",
    "test_broken_events_do_not_count",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    turned = [
        {**event, "dur": abs(event["dur"])} if isinstance(event.get("dur"), int | float) else event
        for event in events
    ]
    return right(turned)
