"""Nanoseconds are cut off instead of rounded."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "A decimal such as 226786.061 is no float, and its thousandfold may be a little less than "
    "226786061: int() then drops a nanosecond. Round."
)
FAILS = ("test_nanoseconds_are_kept",)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    def moved(event: Event) -> Event:
        try:
            return {**event, "ts": int(1000 * event["ts"]) / 1000, "dur": int(1000 * event["dur"]) / 1000}
        except (KeyError, TypeError, ValueError, OverflowError):  # a broken event, or one without times
            return event

    return right([moved(event) for event in events])
