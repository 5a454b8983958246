"""A time that is a string is read as a number."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    'A ts of "17.0" is a broken event: whoever wrote it did not write a time. It does not count, as '
    "one without a time does not."
)
FAILS = (
    "test_a_broken_event_does_not_count",
    "test_broken_events_do_not_count",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    read = [
        {**event, "ts": float(event["ts"])} if isinstance(event.get("ts"), str) else event for event in events
    ]
    return right(read)
