"""Memory copies and memory sets do not count."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = "A device that copies is busy too: gpu_memcpy and gpu_memset are its work as much as kernels are."
FAILS = (
    "test_streams_that_overlap_are_busy_once",
    "test_annotations_and_the_cpu_keep_no_device_busy",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
    "test_broken_events_do_not_count",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    return right([event for event in events if event.get("cat") == "kernel"])
