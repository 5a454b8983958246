"""Time that two classes share goes to the memory-bound kernel."""

from collections.abc import Sequence

from specs import Event, KernelClass, StepBreakdown

from ..breakdown import step_breakdown as right
from ..kernels import classify_kernel
from ._steps import Kinds, changed

EXERCISE = "step_breakdown"
HINT = (
    "Where classes overlap the time goes to the most useful work: matmul first, then attention, "
    "memory-bound kernels, copies. An addition under a matmul costs nothing."
)
FAILS = (
    "test_time_that_two_kernels_share_counts_once",
    "test_without_a_device_operators_count_with_their_self_time",
    "test_any_step_of_work",
    "test_any_communication",
    "test_any_loader",
    "test_operators_in_operators_of_another_class",
)


def step_breakdown(events: Sequence[Event], kinds: Kinds = None) -> list[StepBreakdown]:
    swap: dict[KernelClass, KernelClass] = {"matmul": "memory_bound", "memory_bound": "matmul"}
    names = {str(event.get("name")): event.get("args") for event in events}
    classes = {name: (kinds or {}).get(name) or classify_kernel(name, args) for name, args in names.items()}
    swapped = {name: swap.get(kind, kind) for name, kind in classes.items()}
    return changed(
        right(events, swapped),
        lambda step: {"matmul_s": step.memory_bound_s, "memory_bound_s": step.matmul_s},
    )
