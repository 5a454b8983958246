"""Times are cut off to whole microseconds."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "The profiler writes three decimals of a microsecond: they are the nanoseconds. Kernels of 1 or 2 "
    "µs are common, and cutting them off loses half of their time."
)
FAILS = (
    "test_streams_that_overlap_are_busy_once",
    "test_nanoseconds_are_kept",
    "test_annotations_and_the_cpu_keep_no_device_busy",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    return [(start // 1000 * 1000, end // 1000 * 1000) for start, end in right(events)]
