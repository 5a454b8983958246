"""Memory sets do not count."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = "Copies are gpu_memcpy, and setting memory has a category of its own: gpu_memset."
FAILS = (
    "test_annotations_and_the_cpu_keep_no_device_busy",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    return right([event for event in events if event.get("cat") != "gpu_memset"])
