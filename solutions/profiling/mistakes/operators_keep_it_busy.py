"""The CPU's operators count as work of the device."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "A cpu_op is the CPU that launches; the device is busy only with what has the category kernel, "
    "gpu_memcpy or gpu_memset."
)
FAILS = (
    "test_annotations_and_the_cpu_keep_no_device_busy",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    return right([{**event, "cat": "kernel"} if event.get("cat") == "cpu_op" else event for event in events])
