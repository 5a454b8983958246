# %% [markdown]
# # Where a step's time goes
#
# Section 3 of the handout, `README.md`: the order of the classes, exposed communication, two kinds of idle time.

# %%
"""A profiler step by its parts, which sum to its duration."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from specs import DEVICE_CATEGORIES, Event, KernelClass, StepBreakdown

from .intervals import Interval, union
from .kernels import classify_kernel

# %% tags=["instructor"]
_STEP = re.compile(r"ProfilerStep#(\d+)")
_LOADER = re.compile(r"enumerate\(DataLoader\)#.*__next__")
_ORDER: tuple[KernelClass, ...] = ("matmul", "attention", "memory_bound", "copy", "communication")


def _interval(event: Event) -> Interval | None:
    """(start, end) in nanoseconds; None if the event is not complete or its times are no times."""
    times = (event.get("ts"), event.get("dur"))
    if event.get("ph") != "X" or not all(isinstance(t, int | float) and isfinite(t) for t in times):
        return None
    start, length = (round(1000 * each) for each in times)
    return (start, start + length) if length >= 0 else None


def _length(intervals: Iterable[Interval]) -> int:
    return sum(end - start for start, end in intervals)


def _without(minuend: Sequence[Interval], subtrahend: Sequence[Interval]) -> list[Interval]:
    """What is in the first union and not in the second: one pass over both."""
    left = []
    index = 0
    for start, end in minuend:
        while index < len(subtrahend) and subtrahend[index][1] <= start:
            index += 1
        at, cut = start, index
        while cut < len(subtrahend) and subtrahend[cut][0] < end:
            if subtrahend[cut][0] > at:
                left.append((at, subtrahend[cut][0]))
            at = max(at, subtrahend[cut][1])
            cut += 1
        if at < end:
            left.append((at, end))
    return left


def _clipped(intervals: Iterable[Interval], to: Interval) -> list[Interval]:
    return union((max(start, to[0]), min(end, to[1])) for start, end in intervals)


def _is_operator(name: str) -> bool:
    """Whether a cpu_op computes: `aten::mm`, `mkl::_mkl_linear`, `gloo:all_reduce`; not autograd's nodes."""
    namespace, colon, _ = name.partition(":")
    return bool(colon) and namespace.isidentifier() and namespace not in ("autograd", "torch", "c10d")


def _self_times(events: Sequence[Event]) -> list[tuple[Event, list[Interval]]]:
    """Each operator of the CPU, with its interval less those of the operators in it on the same thread."""
    threads: dict[tuple[object, object], list[tuple[Interval, Event]]] = {}
    for event in events:
        at = _interval(event)
        if at is not None and event.get("cat") == "cpu_op" and _is_operator(str(event.get("name"))):
            threads.setdefault((event.get("pid"), event.get("tid")), []).append((at, event))
    found = []
    for ops in threads.values():
        ops.sort(key=lambda op: (op[0][0], -op[0][1]))  # an operator before those in it
        children: list[list[Interval]] = [[] for _ in ops]
        around: list[int] = []
        for index, (at, _) in enumerate(ops):
            while around and ops[around[-1]][0][1] <= at[0]:
                around.pop()
            if around:
                children[around[-1]].append(at)
            around.append(index)
        found += [(op, _without([at], union(own))) for (at, op), own in zip(ops, children, strict=True)]
    return found


# %% nbgrader={"grade": false, "grade_id": "profiling.step_breakdown", "locked": false, "schema_version": 3, "solution": true, "task": false}
def step_breakdown(
    events: Sequence[Event], kinds: Mapping[str, KernelClass] | None = None
) -> list[StepBreakdown]:
    """Where the time of each profiler step went.

    A step is the interval of the annotation `ProfilerStep#N` on the CPU (`cat` "user_annotation"; its twin
    "gpu_user_annotation" is neither a step nor work). What the device does in that interval counts, cut off at
    both ends, whichever step launched it. At each instant of it the first of these that holds gets the time:

    1. matmul, attention, memory_bound, copy, in this order: such work runs on the device, on any stream;
    2. exposed_communication: nothing but communication runs;
    3. idle_data: nothing runs, and the CPU is in the data loader, in an annotation `enumerate(DataLoader)#...__next__`
       (`cat` "user_annotation" or "cpu_op");
    4. idle_host: nothing runs.

    So the parts sum to the duration, to the nanosecond. overlapped_communication is the time in which
    communication and something of 1. run at once; it is no part of the sum.

    A trace without any device work is one of the CPU alone, and its operators are the kernels: each "cpu_op" whose
    name has a namespace (`aten::mm`, `mkl::_mkl_linear`, `gloo:all_reduce`) other than `autograd`, `torch` and
    `c10d`, whose nodes only call operators. Each counts with its self time: its interval without those of the
    operators of the same `pid` and `tid` that lie in it. What the loader runs inside its annotation is the
    loader's: it is idle_data.

    Args:
        events: of one rank's trace, in any order and as in `busy_intervals`; broken ones do not count.
        kinds: the class of each kernel, copy or operator by its name. Names that it lacks, or all without it, are
            classed by `classify_kernel`.

    Returns:
        A StepBreakdown for each step, by N; none if there is no step. All fields but `step` in seconds.

    Source: Holistic Trace Analysis (PyTorch), temporal and overlap breakdown, whose classes are coarser.
    """
    ### BEGIN SOLUTION
    steps: list[tuple[int, Interval]] = []
    loader: list[Interval] = []
    work: list[tuple[Event, list[Interval]]] = []
    for event in events:
        at = _interval(event)
        if at is None:
            continue
        name, category = str(event.get("name")), event.get("cat")
        if category in DEVICE_CATEGORIES:
            work.append((event, [at]))
        elif category in ("user_annotation", "cpu_op"):
            if step := _STEP.fullmatch(name):
                steps.append((int(step[1]), at))
            elif _LOADER.fullmatch(name):
                loader.append(at)
    loader = union(loader)
    if not work:
        work = [(op, _without(own, loader)) for op, own in _self_times(events)]
    by_class: dict[KernelClass, list[Interval]] = {each: [] for each in _ORDER}
    for event, intervals in work:
        name = str(event.get("name"))
        kind = (kinds or {}).get(name) or classify_kernel(name, event.get("args"))
        by_class[kind] += intervals
    unions = {each: union(intervals) for each, intervals in by_class.items()}

    found = []
    for number, at in sorted(steps):
        ns = {}
        free = union([at])
        for each in _ORDER:
            ran = _clipped(unions[each], at)
            before, free = free, _without(free, ran)
            ns[each] = _length(before) - _length(free)
            if each == "communication":
                overlapped = _length(ran) - ns[each]
        waiting = _without(free, _clipped(loader, at))
        found.append(
            StepBreakdown(
                step=number,
                duration_s=(at[1] - at[0]) / 1e9,
                matmul_s=ns["matmul"] / 1e9,
                attention_s=ns["attention"] / 1e9,
                memory_bound_s=ns["memory_bound"] / 1e9,
                copy_s=ns["copy"] / 1e9,
                exposed_communication_s=ns["communication"] / 1e9,
                overlapped_communication_s=overlapped / 1e9,
                idle_data_s=(_length(free) - _length(waiting)) / 1e9,
                idle_host_s=_length(waiting) / 1e9,
            )
        )
    return found
    ### END SOLUTION
