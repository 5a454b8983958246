"""Times are left in microseconds."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = "ts and dur are microseconds, and the answer is in nanoseconds: a thousand times as many."
FAILS = (
    "test_streams_that_overlap_are_busy_once",
    "test_nanoseconds_are_kept",
    "test_annotations_and_the_cpu_keep_no_device_busy",
    "test_a_broken_event_does_not_count",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
    "test_broken_events_do_not_count",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    return [(start / 1000, end / 1000) for start, end in right(events)]  # type: ignore[misc]  # the mistake
