"""Times go through seconds, and are added as floats."""

import math
from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "ts + dur as floats has lost nanoseconds before you round: late in a trace a float has none to "
    "spare. Make integers of ts and of dur, and add those."
)
FAILS = (
    "test_nanoseconds_are_kept",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    def moved(event: Event) -> Event:
        if not isinstance(event.get("ts"), int | float) or not isinstance(event.get("dur"), int | float):
            return event
        start_s, dur_s = event["ts"] / 1e6, event["dur"] / 1e6
        end_s = start_s + dur_s
        if not math.isfinite(end_s) or dur_s < 0:
            return event
        start_ns = round(1e9 * start_s)
        return {**event, "ts": start_ns / 1000, "dur": (round(1e9 * end_s) - start_ns) / 1000}

    return right([moved(event) for event in events])
