"""Measures what a row of thresholds must bear out on a card: baseline against itself, solution, naive attention.

By the protocol of an official run, with the same blocks, inputs and checks. Not run on a GPU yet: the tests have
simulated cards whose truth is known.
"""

import math
import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from statistics import median
from typing import Literal, NamedTuple

from grader.calls.faults import Raised
from grader.clock.device import Device, DeviceError
from grader.clock.interleave import ALONE_CALLS, Interleaved, Quad
from specs.timing import MeasuredShape, TimedShape, Timing

Who = Literal["baseline", "solution", "naive"]
Open = Callable[[Who, str], AbstractContextManager[Device]]
"""Who is timed as the submission, and in which direction; the baseline is on the other side."""

RUNS = 3
"""Of the baseline against itself, each with processes of its own: from run to run, not from call to call."""
QUADS = 16
CALLS = 5
MOST_QUADS = 4 * QUADS
"""Of which `QUADS` must count, or the card is too restless to say anything."""


class Ratios(NamedTuple):
    """What was found out about a card."""

    shapes: tuple[MeasuredShape, ...]
    spread: float
    empty_call_s: float
    sm_clock_mhz: tuple[float, float]


class _Shape(NamedTuple):
    """One shape in one run."""

    ratio: float
    baseline_s: float


class _Run(NamedTuple):
    """One run: its shapes by label, None for one that did not fit; what an empty call took; clocks."""

    found: dict[str, _Shape | None]
    empty_s: float
    slowest_mhz: float
    fastest_mhz: float


def measure(timing: Timing, open_side: Open, order: random.Random, say: Callable[[str], None]) -> Ratios:
    """Time everybody at all shapes.

    Args:
        say: hears what is being done.

    Raises:
        DeviceError: the card, the baseline or the clock failed, or too little counts.
        Fault: the solution failed, or naive attention for want of anything but memory.
    """
    runs: dict[Who, list[_Run]] = {"baseline": [], "solution": [], "naive": []}
    rounds: list[Who] = ["solution", "naive"]
    rounds[:0] = ["baseline"] * RUNS
    for who in rounds:
        for direction in dict.fromkeys(each.direction for each in timing.shapes):
            shapes = [each for each in timing.shapes if each.direction == direction]
            say(f"{who}, {direction}: {len(shapes)} shapes")
            with open_side(who, direction) as device:
                runs[who].append(_one_run(device, shapes, order, tolerant=who == "naive"))
    everything = [each for group in runs.values() for each in group]
    return Ratios(
        shapes=tuple(_shape(each, runs) for each in timing.shapes),
        spread=max(_spread([each.ratio for each in _found(runs["baseline"], s)]) for s in timing.shapes),
        empty_call_s=median(each.empty_s for each in everything),
        sm_clock_mhz=(
            min(each.slowest_mhz for each in everything),
            max(each.fastest_mhz for each in everything),
        ),
    )


def _shape(shape: TimedShape, runs: dict[Who, list[_Run]]) -> MeasuredShape:
    [solution] = _found(runs["solution"], shape)
    naive = _found(runs["naive"], shape)
    return MeasuredShape(
        shape=shape.label,
        baseline_s=median(each.baseline_s for each in _found(runs["baseline"], shape)),
        solution_ratio=solution.ratio,
        naive_ratio=naive[0].ratio if naive else None,
    )


def _found(runs: Sequence[_Run], shape: TimedShape) -> list[_Shape]:
    return [each for run in runs if (each := run.found.get(shape.label)) is not None]


def _spread(ratios: Sequence[float]) -> float:
    return max(ratios) / min(ratios) - 1


def _one_run(device: Device, shapes: Sequence[TimedShape], order: random.Random, tolerant: bool) -> _Run:
    """All shapes once, side by side with the baseline; `tolerant` lets one be left out that has no room."""
    run = Interleaved(device, order)
    for shape in shapes:
        run.warm_up(shape)
    found: dict[str, _Shape | None] = {}
    for shape in shapes:
        try:
            call_s = run.warm_up_submission(shape)
            found[shape.label] = _one_shape(run, shape, CALLS if call_s < 0.1 else 1)
        except Raised as fault:
            if not tolerant or "out of memory" not in fault.message.lower():
                raise
            found[shape.label] = None
    device.flush_l2()
    empty_s = median(device.time_block("empty", shapes[0], ALONE_CALLS))
    return _Run(found, empty_s, run.slowest_mhz, run.fastest_mhz)


def _one_shape(run: Interleaved, shape: TimedShape, calls: int) -> _Shape:
    quads: list[Quad] = []
    why = ""
    for _ in range(MOST_QUADS):
        quad = run.quad(shape, calls)
        why = quad.trouble or why
        if not quad.trouble:
            quads.append(quad)
        if len(quads) == QUADS:
            break
    ratio = math.exp(median(each.log_ratio for each in quads)) if quads else math.nan
    if len(quads) < QUADS or not 0 < ratio < math.inf:
        raise DeviceError(
            f"{shape.label}: {len(quads)} of {MOST_QUADS} measurements count, {QUADS} are needed: {why or 'no time'}"
        )
    return _Shape(ratio, median(each.baseline_s for each in quads))
