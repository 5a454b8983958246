"""Only matmul and attention hide communication."""

from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event, StepBreakdown

from ..kernels import classify_kernel
from ._steps import Kinds, paired

EXERCISE = "step_breakdown"
HINT = (
    "Whatever else runs at the same instant hides communication, an elementwise kernel or a copy as "
    "well as a matmul: only where it runs alone is it exposed."
)
FAILS = (
    "test_communication_is_exposed_where_nothing_else_runs",
    "test_any_communication",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    def hides(event: Event) -> bool:
        kind = (kinds or {}).get(str(event.get("name"))) or classify_kernel(str(event.get("name")))
        return event.get("cat") not in DEVICE_CATEGORIES or kind not in ("memory_bound", "copy")

    return paired(
        events,
        [event for event in events if hides(event)],
        kinds,
        lambda step, bare: {
            "exposed_communication_s": bare.exposed_communication_s,
            "overlapped_communication_s": bare.overlapped_communication_s,
        },
    )
