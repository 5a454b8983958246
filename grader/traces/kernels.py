"""Kernels by the time that they take: launches of one name together."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.traces.reader import STEP, Trace
from specs.profiling import DEVICE_CATEGORIES, Event

Span = tuple[float, float]
"""From begin to end, in microseconds of the trace."""
_CALLERS = ("autograd", "torch", "c10d")
"""Namespaces of operators that only call others."""


@dataclass(frozen=True)
class KernelTime:
    """All launches of one kernel in the steps of a trace."""

    name: str
    kind: str
    """Its class, by the student's classify_kernel."""
    launches: int
    total_s: float
    """Summed over the launches: on several streams this may be more than the time that passed."""


def by_time(trace: Trace, classify: Callable[[Event], str]) -> list[KernelTime]:
    """Every kernel of the steps, the longest first; of a trace of a CPU the operators with their self time."""
    launches: dict[tuple[str, str], int] = {}
    total: dict[tuple[str, str], float] = {}
    for event, spans in work(trace.events, trace.cpu_only):
        key = (event["name"], classify(event))
        launches[key] = launches.get(key, 0) + 1
        total[key] = total.get(key, 0.0) + sum(end - begin for begin, end in spans)
    found = [KernelTime(*key, launches[key], total[key] / 1e6) for key in total]
    return sorted(found, key=lambda each: (-each.total_s, each.name))


def work(events: Iterable[Event], cpu_only: bool) -> list[tuple[Event, list[Span]]]:
    """What ran, with the microseconds in which it did: an operator of a CPU without those that it called."""
    if cpu_only:
        return _self_times(_operators(events))
    return [
        (event, [(event["ts"], event["ts"] + event["dur"])])
        for event in events
        if event["cat"] in DEVICE_CATEGORIES
    ]


def waits(events: Iterable[Event]) -> list[Span]:
    """When the loader was waited for, in microseconds: apart, by begin."""
    annotated = sorted(
        (float(event["ts"]), _end(event))
        for event in events
        if event["cat"] == "user_annotation" and not STEP.fullmatch(event["name"])
    )
    found: list[Span] = []
    for begin, end in annotated:
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def _operators(events: Iterable[Event]) -> list[Event]:
    """The operators of a CPU that compute, by start, each before those that it calls; none of the loader's."""
    events = list(events)
    waiting = waits(events)
    begins = [begin for begin, _ in waiting]
    found = []
    for event in events:
        namespace, colon, _ = event["name"].partition(":")
        if event["cat"] != "cpu_op" or not colon or not namespace.isidentifier() or namespace in _CALLERS:
            continue
        before = bisect_right(begins, event["ts"]) - 1
        if before < 0 or _end(event) > waiting[before][1]:
            found.append(event)
    return sorted(found, key=lambda event: (event["ts"], -event["dur"]))


def _end(event: Event) -> float:
    return float(event["ts"]) + float(event["dur"])


def _self_times(ordered: Sequence[Event]) -> list[tuple[Event, list[Span]]]:
    """Operators with the time in which none that they called ran, by thread."""
    spans: list[list[Span]] = [[] for _ in ordered]
    at = [float(event["ts"]) for event in ordered]
    around: dict[tuple[object, object], list[int]] = {}

    def leave(index: int) -> None:
        if at[index] < _end(ordered[index]):
            spans[index].append((at[index], _end(ordered[index])))

    for index, event in enumerate(ordered):
        outer = around.setdefault((event["pid"], event["tid"]), [])
        while outer and _end(ordered[outer[-1]]) <= event["ts"]:
            leave(outer.pop())
        if outer:
            if at[outer[-1]] < event["ts"]:
                spans[outer[-1]].append((at[outer[-1]], event["ts"]))
            at[outer[-1]] = max(at[outer[-1]], _end(event))
        outer.append(index)
    for outer in around.values():
        for index in outer:
            leave(index)
    return list(zip(ordered, spans, strict=True))
