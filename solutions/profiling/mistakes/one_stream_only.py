"""Only the stream of the first kernel counts."""

from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "Work runs on several streams: collectives and copies have streams of their own. Busy is the "
    "union over all of them."
)
FAILS = ("test_streams_that_overlap_are_busy_once", "test_any_trace")


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    streams = [event["tid"] for event in events if event.get("cat") in DEVICE_CATEGORIES and "dur" in event]
    return right([event for event in events if streams and event.get("tid") == streams[0]])
