"""What the analysis needs of a trace: device work, steps, loader waits, and of traces of a CPU its operators."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.traces import stream
from specs.profiling import DEVICE_CATEGORIES, Event

MOST_EVENTS = 1_000_000
"""Kept of one trace: about 1 GB."""
MOST_STEPS = 1000
LONGEST_NAME = 4096
"""Characters of a name that are kept; those of C++ templates run to two thousand."""
STEP = re.compile(r"ProfilerStep#(\d{1,9})")
LOADER = re.compile(r"enumerate\(DataLoader\)#.*__next__")
_ENDINGS = (".json", ".json.gz")
_KEPT_ARGS = ("stream", "device", "correlation", "External id", "Collective name", "Process Group Name")
_LATEST_US = 1e16  # 300 years
_RANK_IN_NAME = re.compile(r"rank[-_. ]?(\d{1,6})", re.IGNORECASE)
_FEWER = "profile fewer steps: active=3 of the profiler's schedule is enough"
_NO_STEPS = (
    "no ProfilerStep#N in it: give torch.profiler.profile a schedule and call step() on it after each step"
)


@dataclass(frozen=True)
class Step:
    """One `ProfilerStep#N`, with what touches it."""

    number: int
    begin_us: float
    end_us: float
    events: tuple[Event, ...]
    """The step itself, its device work, its loader waits; of a trace of a CPU its operators."""


@dataclass(frozen=True)
class Trace:
    """A trace, cut down to what the analysis needs."""

    path: Path
    rank: int | None
    world_size: int | None
    devices: tuple[str, ...]
    """Names of the cards, as the trace has them."""
    cpu_only: bool
    """Nothing ran on a device: operators of the CPU stand for the kernels."""
    device_count: int
    steps: tuple[Step, ...]
    """By number."""

    @property
    def events(self) -> list[Event]:
        """All that was kept and touches a step, each once."""
        return list({id(event): event for step in self.steps for event in step.events}.values())


def read(path: Path) -> Trace:
    """Read one trace.

    Raises:
        BadInput: the file cannot be read or costs too much, is no trace, or has no steps; one line with the remedy.
    """
    shown = printable_path(path)
    operators = not stream.has_device_work(path)
    try:
        kept = _kept(stream.events(path), operators, shown)
    except stream.LongNumber:
        kept = _kept(stream.events(path, floats=False), operators, shown)
    head = stream.head(path)
    marks, work, ops = kept
    steps = _steps(marks, work or ops, shown)
    devices = {event["pid"] for event in work}
    rank = head.rank
    if rank is None and (named := _RANK_IN_NAME.search(path.name)):
        rank = int(named[1])
    names = tuple(dict.fromkeys(head.devices)) if work else ()
    return Trace(path, rank, head.world_size, names, not work, len(devices), steps)


def files(paths: Sequence[Path]) -> list[Path]:
    """The trace files that are meant: those given, and those in the folders given, by name.

    Raises:
        BadInput: there is no such file, a folder holds none, or a file is given twice.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                each for each in path.iterdir() if each.name.endswith(_ENDINGS) and each.is_file()
            )
            if not inside:
                raise BadInput(f"{printable_path(path)}: no {' or '.join(_ENDINGS)} in this folder")
            found += inside
        elif not path.exists():
            raise BadInput(f"{printable_path(path)}: no such file")
        else:
            found.append(path)
    twice = [path for path in found if found.count(path) > 1]
    if twice:
        raise BadInput(f"{printable_path(twice[0])}: is given twice")
    return found


def _kept(events: Iterable[Any], operators: bool, shown: str) -> tuple[list[Event], list[Event], list[Event]]:
    """Steps and loader waits; work of the device; operators, where they are wanted and no device works."""
    marks: list[Event] = []
    work: list[Event] = []
    ops: list[Event] = []
    any_event = False
    for number, event in enumerate(events, start=1):
        if not isinstance(event, dict):
            raise BadInput(f"{shown}: event {number} is no object, no trace of the PyTorch profiler")
        any_event = True
        if event.get("ph") != "X":
            continue
        category, name = event.get("cat"), event.get("name")
        if category in DEVICE_CATEGORIES:
            target = work
        elif category == "user_annotation" and isinstance(name, str):
            if not STEP.fullmatch(name) and not LOADER.fullmatch(name[:LONGEST_NAME]):
                continue
            target = marks
        elif category == "cpu_op" and operators:
            target = ops
        else:
            continue
        target.append(_event(event, number, shown))
        if len(marks) + len(work) + len(ops) > MOST_EVENTS:
            raise BadInput(f"{shown}: more than {MOST_EVENTS:,} kernels and operators; {_FEWER}")
    if not any_event:
        raise BadInput(f"{shown}: no events in it, a trace of torch.profiler's export_chrome_trace is needed")
    return marks, work, ops


def _event(event: dict[str, Any], number: int, shown: str) -> Event:
    """What is kept of an event; times that are no times are refused."""
    name = event.get("name")
    if not isinstance(name, str):
        raise BadInput(f"{shown}: event {number} has no name")
    times = {}
    for key, least in (("ts", -_LATEST_US), ("dur", 0.0)):
        value = event.get(key)
        if isinstance(value, Decimal):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            found = "missing" if value is None else printable(repr(value)[:200], 40)
            raise BadInput(
                f"{shown}: event {number}, {printable(name, 60)}: {key} is {found}, a number is needed"
            )
        if not least <= value <= _LATEST_US:
            bound = "a duration is from 0 upwards" if value < least == 0.0 else "no time is so large"
            raise BadInput(f"{shown}: event {number}, {printable(name, 60)}: {key} is {value:g}, {bound}")
        times[key] = value
    given = event.get("args")
    args = {}
    if isinstance(given, dict):
        args = {key: given[key] for key in _KEPT_ARGS if isinstance(given.get(key), int | str)}
    return {
        "ph": "X",
        "cat": event["cat"],
        "name": name[:LONGEST_NAME],
        "pid": _id(event.get("pid")),
        "tid": _id(event.get("tid")),
        **times,
        "args": args,
    }


def _id(value: Any) -> int | str:
    return value if isinstance(value, int) else str(value)[:80] if isinstance(value, str) else "?"


def _steps(marks: Sequence[Event], work: Sequence[Event], shown: str) -> tuple[Step, ...]:
    """Each step with its annotation, the loader waits and the work that touch it."""
    annotated: dict[int, Event] = {}
    waits = []
    for mark in marks:
        found = STEP.fullmatch(mark["name"])
        if found is None:
            waits.append(mark)
        elif int(found[1]) in annotated:
            raise BadInput(f"{shown}: two steps are {found[0]}; give each rank and each window its own file")
        else:
            annotated[int(found[1])] = mark
    if not annotated:
        raise BadInput(f"{shown}: {_NO_STEPS}")
    if len(annotated) > MOST_STEPS:
        raise BadInput(f"{shown}: {len(annotated):,} steps, more than {MOST_STEPS:,}; {_FEWER}")
    ordered = sorted([*waits, *work], key=lambda event: float(event["ts"]))
    begins = np.array([float(event["ts"]) for event in ordered])
    ends = begins + np.array([float(event["dur"]) for event in ordered])
    steps = []
    together = 0
    for number, mark in sorted(annotated.items()):
        begin, end = mark["ts"], mark["ts"] + mark["dur"]
        if not mark["dur"]:
            raise BadInput(f"{shown}: ProfilerStep#{number} has no length")
        touching = np.flatnonzero((begins <= end) & (ends >= begin))
        together += len(touching)
        if together > 2 * MOST_EVENTS:
            raise BadInput(
                f"{shown}: its steps lie over one another, no trace of one run; give each its own file"
            )
        steps.append(Step(number, begin, end, (mark, *(ordered[index] for index in touching))))
    return tuple(steps)
