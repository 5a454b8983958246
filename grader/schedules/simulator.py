"""Judges a pipeline schedule: every pass there once, none before what it waits for, one at a time on a stage.

A schedule is a list of (time, stage, microbatch, "F" or "B"): when a stage begins a forward or a backward pass of a
microbatch. Times are the schedule's own and are never moved: the simulator checks them, it does not mend them.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["F", "B"]

MOST_PASSES = 20_000
_ENTRY = '(time, stage, microbatch, "F" or "B")'
_SLACK = 1e-9  # of the makespan: times that are sums of floats may be a rounding off


@dataclass(frozen=True)
class Pass:
    """One forward or backward pass of a microbatch on a stage."""

    start: float
    end: float
    stage: int
    microbatch: int
    kind: Kind

    @property
    def words(self) -> str:
        """`B of microbatch 3 on stage 1`"""
        return f"{self.kind} of microbatch {self.microbatch} on stage {self.stage}"


class BadSchedule(ValueError):
    """The schedule cannot run: `text` names the passes, `general` only the rule, `symptom` is the rule's name."""

    def __init__(self, symptom: str, text: str, general: str) -> None:
        super().__init__(text)
        self.symptom, self.text, self.general = f"schedule.{symptom}", text, general


@dataclass(frozen=True)
class Schedule:
    """A schedule that can run, with what it costs."""

    passes: tuple[Pass, ...]
    """By stage, and on each stage by time."""
    stages: int
    microbatches: int
    forward: float
    backward: float

    @property
    def makespan(self) -> float:
        """From time 0 to the end of the last pass."""
        return max(each.end for each in self.passes)

    @property
    def ideal(self) -> float:
        """What a stage works: the makespan of a schedule without a bubble."""
        return self.microbatches * (self.forward + self.backward)

    @property
    def bubble(self) -> float:
        """What every stage waits; all wait equally long, since all work equally long."""
        return self.makespan - self.ideal

    @property
    def of_total(self) -> float:
        """The bubble as a share of the makespan."""
        return self.bubble / self.makespan

    @property
    def over_ideal(self) -> float:
        """The bubble as a share of the work."""
        return self.bubble / self.ideal

    def on_stage(self, stage: int) -> tuple[Pass, ...]:
        """The passes of one stage, in the order of time."""
        return tuple(each for each in self.passes if each.stage == stage)

    @property
    def peak_activations(self) -> tuple[int, ...]:
        """By stage, the most microbatches whose forward has begun and whose backward has not ended."""
        peaks = []
        for stage in range(self.stages):
            alive = peak = 0
            for each in self.on_stage(stage):  # one at a time: a backward ends before the next pass begins
                if each.kind == "F":
                    alive += 1
                    peak = max(peak, alive)
                else:
                    alive -= 1
            peaks.append(peak)
        return tuple(peaks)


def simulate(
    entries: Any, stages: int, microbatches: int, forward: float = 1, backward: float = 2
) -> Schedule:
    """The schedule that `entries` are, if it can run.

    Args:
        entries: (time, stage, microbatch, "F" or "B") in any order; stages and microbatches count from 0.
        stages, microbatches: how many there are.
        forward, backward: how long a pass takes; the same on every stage.

    Raises:
        BadSchedule: `entries` are no schedule, a pass is missing or there twice, begins before what it waits for
            has ended, or while its stage is busy.
    """
    passes = _passes(entries, stages, microbatches, forward, backward)
    _each_once(passes, stages, microbatches)
    slack = _SLACK * max(each.end for each in passes)
    _one_at_a_time(passes, slack)
    _in_order(passes, stages, slack)
    return Schedule(tuple(passes), stages, microbatches, forward, backward)


def sizes(entries: Any) -> tuple[int, int]:
    """How many stages and microbatches the entries speak of.

    Raises:
        BadSchedule: they are no schedule.
    """
    listed = _listed(entries)
    return max(each[1] for each in listed) + 1, max(each[2] for each in listed) + 1


def _bad_entry(text: str) -> BadSchedule:
    general = f"an entry is not {_ENTRY} with a time from 0 upwards, a stage and a microbatch that exist"
    return BadSchedule("entry", text, general)


def _listed(entries: Any) -> list[tuple[float, int, int, Kind]]:
    """The entries as plain tuples of the right types."""
    if not isinstance(entries, list | tuple):
        raise _bad_entry(f"a list of {_ENTRY} is needed, and it is {_a(entries)}")
    if not 0 < len(entries) <= MOST_PASSES:
        raise _bad_entry(f"{len(entries)} entries: 1 to {MOST_PASSES:,} can be judged")
    listed: list[tuple[float, int, int, Kind]] = []
    for number, entry in enumerate(entries):
        which = f"entry {number} is not {_ENTRY}"
        if not isinstance(entry, list | tuple) or len(entry) != 4:
            raise _bad_entry(which)
        time, stage, microbatch, kind = entry
        if not _is_number(time) or not 0 <= time < 1e15:
            raise _bad_entry(f"{which}: its time is no number from 0 upwards")
        if not all(type(each) is int and 0 <= each < MOST_PASSES for each in (stage, microbatch)):
            raise _bad_entry(f"{which}: stage and microbatch are whole numbers from 0 upwards")
        if not isinstance(kind, str) or kind not in ("F", "B"):
            raise _bad_entry(f'{which}: its last part is neither "F" nor "B"')
        listed.append((time, stage, microbatch, "F" if kind == "F" else "B"))
    return listed


def _passes(entries: Any, stages: int, microbatches: int, forward: float, backward: float) -> list[Pass]:
    passes = []
    for number, (time, stage, microbatch, kind) in enumerate(_listed(entries)):
        if stage >= stages or microbatch >= microbatches:
            raise _bad_entry(
                f"entry {number}: stage {stage} and microbatch {microbatch}, and there are {stages} stages and "
                f"{microbatches} microbatches, counted from 0"
            )
        length = forward if kind == "F" else backward
        passes.append(Pass(time, time + length, stage, microbatch, kind))
    return sorted(passes, key=lambda each: (each.stage, each.start))


def _each_once(passes: Sequence[Pass], stages: int, microbatches: int) -> None:
    seen: set[tuple[int, int, Kind]] = set()
    for each in passes:
        key = (each.stage, each.microbatch, each.kind)
        if key in seen:
            raise BadSchedule("twice", f"{each.words} is there twice", "a pass is there twice")
        seen.add(key)
    kinds: tuple[Kind, ...] = ("F", "B")
    for stage in range(stages):
        for microbatch in range(microbatches):
            for kind in kinds:
                if (stage, microbatch, kind) not in seen:
                    words = Pass(0, 0, stage, microbatch, kind).words
                    raise BadSchedule("missing", f"{words} is missing", "a pass is missing")


def _one_at_a_time(passes: Sequence[Pass], slack: float) -> None:
    for one, two in itertools.pairwise(passes):
        if one.stage == two.stage and two.start < one.end - slack:
            raise BadSchedule(
                "overlap",
                f"{two.words} begins at {two.start:g}, and {one.words} ends at {one.end:g}: a stage does one "
                "thing at a time",
                "a stage begins a pass before it has ended another",
            )


def _in_order(passes: Iterable[Pass], stages: int, slack: float) -> None:
    """Each pass after the one that it waits for; the first in time that does not wait is reported."""
    ends = {(each.stage, each.microbatch, each.kind): each.end for each in passes}
    waits_for: tuple[int, int, Kind]
    for each in sorted(passes, key=lambda each: each.start):
        if each.kind == "F":
            waits_for, symptom = (each.stage - 1, each.microbatch, "F"), "forward_too_early"
            general = "a forward begins before that of the stage in front has ended"
        elif each.stage < stages - 1:
            waits_for, symptom = (each.stage + 1, each.microbatch, "B"), "backward_too_early"
            general = "a backward begins before that of the stage behind has ended"
        else:
            waits_for, symptom = (each.stage, each.microbatch, "F"), "backward_before_forward"
            general = "on the last stage a backward begins before the microbatch's own forward has ended"
        end = ends.get(waits_for, -math.inf)
        if each.start < end - slack:
            first = Pass(0, end, *waits_for)
            raise BadSchedule(
                symptom,
                f"{each.words} begins at {each.start:g}, and waits for {first.words}, which ends at {end:g}",
                general,
            )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _a(value: object) -> str:
    return "None: is there a return?" if value is None else f"a {type(value).__name__}"
