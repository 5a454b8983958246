"""A breakdown of plain sums, for the mistakes that add up durations: each class by itself, and the rest is idle."""

from collections import Counter
from collections.abc import Sequence

from specs import DEVICE_CATEGORIES, Event, StepBreakdown

from ..breakdown import step_breakdown
from ..kernels import classify_kernel
from ._steps import Kinds, begin, changed, is_loader, on_a_device, windows


def plain_sums(events: Sequence[Event], kinds: Kinds, least_idle_ns: float) -> list[StepBreakdown]:
    """Each part as the sum of the durations in the step; what is left of it is idle, or `least_idle_ns` if that is more.

    A trace of the CPU alone is broken down as it should be.
    """
    steps = step_breakdown(events, kinds)
    if not on_a_device(events):
        return steps
    inside = windows(events)

    def parts(step: StepBreakdown) -> dict[str, float]:
        start, end = inside[step.step]
        sums: Counter[str] = Counter()
        for event in events:
            if event.get("ph") != "X" or not (event.get("cat") in DEVICE_CATEGORIES or is_loader(event)):
                continue
            ends = begin(event) + round(1000 * event["dur"])
            sums[_part(event, kinds)] += max(0, min(end, ends) - max(start, begin(event)))
        idle_ns = max(least_idle_ns, end - start - sum(sums.values()))
        return {
            "matmul_s": sums["matmul"] / 1e9,
            "attention_s": sums["attention"] / 1e9,
            "memory_bound_s": sums["memory_bound"] / 1e9,
            "copy_s": sums["copy"] / 1e9,
            "exposed_communication_s": sums["communication"] / 1e9,
            "overlapped_communication_s": 0.0,
            "idle_data_s": sums["loader"] / 1e9,
            "idle_host_s": idle_ns / 1e9,
        }

    return changed(steps, parts)


def _part(event: Event, kinds: Kinds) -> str:
    if is_loader(event):
        return "loader"
    name = str(event["name"])
    return (kinds or {}).get(name) or classify_kernel(name, event.get("args"))
