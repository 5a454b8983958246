"""Turns a right breakdown into a wrong one, for the mistakes about steps: other events, or other numbers."""

from collections.abc import Callable, Mapping, Sequence

from specs import DEVICE_CATEGORIES, Event, KernelClass, StepBreakdown

from ..breakdown import step_breakdown

Kinds = Mapping[str, KernelClass] | None


def changed(
    steps: Sequence[StepBreakdown], change: Callable[[StepBreakdown], dict[str, float]]
) -> list[StepBreakdown]:
    """The steps with the fields that `change` returns."""
    return [step.model_copy(update=change(step)) for step in steps]


def paired(
    events: Sequence[Event],
    others: Sequence[Event],
    kinds: Kinds,
    change: Callable[[StepBreakdown, StepBreakdown], dict[str, float]],
) -> list[StepBreakdown]:
    """The steps with the fields that `change` returns for a step of `events` and the same one of `others`."""
    steps = step_breakdown(events, kinds)
    beside = {step.step: step for step in step_breakdown(others, kinds)}
    return changed(steps, lambda step: change(step, beside[step.step]))


def on_a_device(events: Sequence[Event]) -> bool:
    """Whether anything ran on a device."""
    return any(event.get("cat") in DEVICE_CATEGORIES for event in events)


def is_loader(event: Event) -> bool:
    """Whether an event is the loader's annotation."""
    return str(event.get("name")).startswith("enumerate(DataLoader)")


def is_step(event: Event) -> bool:
    """Whether an event is a step's annotation on the CPU."""
    return event.get("cat") == "user_annotation" and str(event.get("name")).startswith("ProfilerStep#")


def begin(event: Event) -> int:
    """When an event begins, in nanoseconds; -1 if it has no time."""
    return round(1000 * event["ts"]) if isinstance(event.get("ts"), int | float) else -1


def within(event: Event, start: int, end: int) -> bool:
    """Whether an event lies in an interval as a whole, both in nanoseconds."""
    return start <= begin(event) and begin(event) + round(1000 * event.get("dur", 0)) <= end


def windows(events: Sequence[Event]) -> dict[int, tuple[int, int]]:
    """Each step's interval in nanoseconds, by N in ascending order."""
    steps = [(int(event["name"].partition("#")[2]), event) for event in events if is_step(event)]
    return {
        number: (begin(event), begin(event) + round(1000 * event["dur"]))
        for number, event in sorted(steps, key=lambda pair: pair[0])
    }


def is_operator(event: Event) -> bool:
    """Whether an event is an operator of ATen on the CPU."""
    return event.get("cat") == "cpu_op" and str(event.get("name")).startswith("aten::")
