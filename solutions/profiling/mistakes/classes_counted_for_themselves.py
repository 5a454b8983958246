"""Every class counts all of its time, also what it shares."""

from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ..kernels import classify_kernel
from ._steps import Kinds, on_a_device

EXERCISE = "step_breakdown"
HINT = (
    "Where two classes run at once the time belongs to one of them: take each class without the time "
    "of those before it, or the parts sum to more than the step."
)
FAILS = (
    "test_time_that_two_kernels_share_counts_once",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    def kind_of(event: Event) -> str:
        if event.get("cat") not in DEVICE_CATEGORIES and event.get("cat") != "cpu_op":
            return ""
        return (kinds or {}).get(str(event.get("name"))) or classify_kernel(
            str(event["name"]), event.get("args")
        )

    device = on_a_device(events)
    steps = right(events, kinds)
    for kind in ("attention", "memory_bound", "copy") if device else ():
        only = [e for e in events if kind_of(e) in ("", kind) or e.get("cat") == "cpu_op"]
        if not on_a_device(only):
            continue
        alone = {step.step: getattr(step, f"{kind}_s") for step in right(only, kinds)}
        steps = [step.model_copy(update={f"{kind}_s": alone[step.step]}) for step in steps]
    return steps
