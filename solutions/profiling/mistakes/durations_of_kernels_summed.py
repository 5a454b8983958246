"""The durations of a class's kernels are added up, whether they overlap or not."""

from collections.abc import Sequence

from specs import Event, StepBreakdown

from ..breakdown import step_breakdown as right
from ..kernels import classify_kernel
from ._steps import Kinds, changed, is_step, on_a_device

EXERCISE = "step_breakdown"
HINT = (
    "Two matmuls on two streams at once keep the device busy once: take the union of the intervals of "
    "a class, and not the sum of their lengths."
)
FAILS = (
    "test_time_that_two_kernels_share_counts_once",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    def matmul_s(step: StepBreakdown) -> dict[str, float]:
        at = next(e for e in events if is_step(e) and e["name"] == f"ProfilerStep#{step.step}")
        start, end = round(1000 * at["ts"]), round(1000 * at["ts"]) + round(1000 * at["dur"])
        total = 0
        for event in events:
            if event.get("cat") == "kernel" and event.get("ph") == "X" and kind_of(event) == "matmul":
                begin = round(1000 * event["ts"])
                total += max(0, min(end, begin + round(1000 * event["dur"])) - max(start, begin))
        return {"matmul_s": total / 1e9} if on_a_device(events) else {}

    def kind_of(event: Event) -> str:
        return (kinds or {}).get(event["name"]) or classify_kernel(event["name"], event.get("args"))

    return changed(right(events, kinds), matmul_s)
