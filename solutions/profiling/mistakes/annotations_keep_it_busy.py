"""The shadows of annotations count as work."""

from collections.abc import Sequence

from specs import Event

from ..intervals import busy_intervals as right

EXERCISE = "busy_intervals"
HINT = (
    "gpu_user_annotation is the shadow of a CPU annotation on the device's timeline: it spans kernels "
    "and the gaps between them, and nothing runs for it."
)
FAILS = (
    "test_annotations_and_the_cpu_keep_no_device_busy",
    "test_any_trace",
    "test_whole_microseconds_and_amd",
)


def busy_intervals(events: Sequence[Event]) -> list[tuple[int, int]]:
    shadows = [{**event, "cat": "kernel"} for event in events if event.get("cat") == "gpu_user_annotation"]
    return right([*events, *shadows])
