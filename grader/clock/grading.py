"""One grading of one timed function: measure, look, go on or stop, and say what is known.

Every shape gates: the share of the points is that of the slowest shape, so that a kernel made for one size earns by
its worst. A shape whose share cannot be the least any more is measured no further. The run stops when both hold:

- the share's interval is no wider than a twentieth of the points (`Plan.score_width`);
- while full marks are still possible, each shape's ratio interval that reaches above full credit spans no more than
  `Plan.resolution`. On a flat curve a twentieth of the points is more than 5 % of the time, and without this a ratio
  5 % outside could be given full marks.

Error bounds. `Plan.alpha` is split evenly over attempts, shapes and both sides. By the union bound all intervals of
all attempts hold their true ratios at every look with probability 1 − alpha. Points are lost unduly only by a low end
above the truth: at most alpha / 2. The test against the floor adds as much again for a kernel exactly at the floor,
and practically nothing for any real one.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from pydantic import Field

from grader.clock.device import Device, DeviceError
from grader.clock.floor import floor_s
from grader.clock.interleave import Interleaved, Quad
from grader.clock.interval import Interval, median_interval
from grader.clock.verdict import Dropped, ShapeTiming, TimingOutcome, TimingVerdict
from grader.outcome import Model
from specs.gpu import Gpu
from specs.timing import Threshold, TimedShape

ATTEMPTS = 3
"""A first one, and two more when nobody could say."""
WARM_UPS = 3
"""Tries to time the baseline alone beside a card that throttles, or with somebody else on it."""
SUBMISSION_BUDGET_S = 180.0
"""GPU seconds of all attempts of a submission together."""


class Plan(Model):
    """How sure a verdict must be and what it may cost."""

    alpha: float = Field(default=0.01, gt=0, lt=1)
    """Probability that any interval of any attempt ever misses its ratio; half of it loses points unduly."""
    score_width: float = Field(default=1 / 20, gt=0)
    """Widest interval of the share that is scored."""
    resolution: float = Field(default=1.05, gt=1)
    """Widest interval of a ratio, high over low, that may straddle full credit."""
    budget_s: float = Field(default=SUBMISSION_BUDGET_S / ATTEMPTS, gt=0)
    """Device seconds of one attempt, the first calls that compile and tune included."""
    calls: int = Field(default=5, ge=1)
    """In a block; fewer where the submission is so slow that the budget would not hold the quads that it takes."""
    quads_a_look: int = Field(default=4, ge=1)
    baseline_drift: float = Field(default=1.1, gt=1)
    """By which factor the baseline may be slower beside the submission than it was before that ever ran."""


@dataclass
class _Shape:
    """A shape while it is measured."""

    shape: TimedShape
    floor_s: float
    calls: int = 1
    cost_s: float = 0.0
    """Longest that a quad held the device, a guess before the first."""
    alone_s: tuple[float, ...] = ()
    quads: list[Quad] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def timing(self, threshold: Threshold, alpha: float) -> ShapeTiming:
        """What is known now."""
        logs = [quad.log_ratio for quad in self.quads]
        ends = median_interval(logs, alpha)
        interval = Interval(low=math.exp(ends.low), high=math.exp(ends.high))
        return ShapeTiming(
            shape=self.shape.label,
            quads=len(logs),
            calls=self.calls,
            ratio=math.exp(median(logs)) if logs else None,
            interval=interval,
            share=Interval(low=threshold.share(interval.high), high=threshold.share(interval.low)),
            baseline_s=median(quad.baseline_s for quad in self.quads) if logs else None,
            submission_s=median(quad.submission_s for quad in self.quads) if logs else None,
            floor_s=self.floor_s,
            dropped=tuple(Dropped(reason=why, quads=count) for why, count in self.dropped.most_common()),
        )


class _Ended(Exception):
    def __init__(self, outcome: TimingOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


def grade(
    device: Device,
    gpu: Gpu,
    shapes: Sequence[TimedShape],
    threshold: Threshold,
    *,
    attempt: int = 1,
    plan: Plan | None = None,
    order: random.Random | None = None,
) -> TimingVerdict:
    """Time a submission on every shape and say which share of the points it earned.

    Args:
        threshold: the curve of this GPU; without one there is nothing to grade by, and the points stay pending.
        attempt: 1, or one more than that of the verdict that asked for a requeue.
        order: draws the secret order of blocks and shapes; the system's randomness where None.

    Raises:
        ValueError: no shape, one shape twice, or an attempt beyond the last.
        SpecError: the GPU has no rate for a shape's dtype.
        grader.calls.faults.Fault: from the device, for what the submission did wrong in a call.
    """
    labels = [shape.label for shape in shapes]
    if not shapes or len(set(labels)) < len(labels) or not 1 <= attempt <= ATTEMPTS:
        raise ValueError(
            f"attempt {attempt} of {ATTEMPTS} on shapes {labels}: give different shapes, and 1 to 3"
        )
    plan = plan or Plan()
    states = [_Shape(shape, floor_s(shape, gpu)) for shape in shapes]
    alpha = plan.alpha / ATTEMPTS
    side_alpha = alpha / (2 * len(states))
    run: Interleaved | None = None
    try:
        # A secret order needs no more than the system's randomness; it signs nothing.
        run = Interleaved(device, order or random.SystemRandom())
        _warm_up(run, states, plan)
        _measure(run, states, threshold, plan, side_alpha)
        outcome, reason = TimingOutcome.SCORED, ""
    except _Ended as end:
        outcome, reason = end.outcome, end.reason
    except DeviceError as error:
        outcome, reason = TimingOutcome.GRADER_ERROR, f"{error}; the points stay pending"
    timings = tuple(state.timing(threshold, side_alpha) for state in states)
    return _verdict(outcome, reason, timings, attempt=attempt, alpha=alpha, run=run)


def could_not(reason: str, attempt: int, plan: Plan) -> TimingVerdict:
    """The verdict where nothing could be measured: pending, for a reason that is nobody's fault."""
    return _verdict(
        TimingOutcome.GRADER_ERROR,
        f"{reason}; the points stay pending",
        (),
        attempt=attempt,
        alpha=plan.alpha / ATTEMPTS,
        run=None,
    )


def _warm_up(run: Interleaved, states: Sequence[_Shape], plan: Plan) -> None:
    """The baseline alone at every shape, then the submission's first calls; sizes the blocks.

    Raises:
        _Ended: the submission's first calls took the whole budget.
        DeviceError: device, baseline or clock failed.
    """
    costs_s = []
    for state in states:
        warm = run.warm_up(state.shape)
        for _ in range(WARM_UPS - 1):
            warm = run.warm_up(state.shape) if warm.trouble else warm
        if warm.trouble:  # without it nobody could say later that the submission slows the baseline down
            raise _Ended(
                TimingOutcome.INCONCLUSIVE,
                f"{state.shape.label}: the baseline could not be timed alone before the submission ran: {warm.trouble}",
            )
        state.alone_s = warm.alone_s
        costs_s.append(warm.baseline_cost_s)
    for state, baseline_s in zip(states, costs_s, strict=True):
        call_s = 2 * (baseline_s + run.warm_up_submission(state.shape))
        if run.used_s > plan.budget_s:
            raise _Ended(
                TimingOutcome.INCONCLUSIVE,
                f"the first calls, in which kernels are compiled and tuned, held the GPU for {run.used_s:.0f} s of "
                f"{plan.budget_s:.0f} s, and nothing is left to measure in: try fewer configs",
            )
        # An interval is finite from 15 quads on, and one that decides takes a few more.
        affordable = plan.budget_s / (len(states) * 32 * call_s)
        state.calls = max(1, min(plan.calls, int(affordable)))
        state.cost_s = state.calls * call_s


def _measure(
    run: Interleaved, states: Sequence[_Shape], threshold: Threshold, plan: Plan, alpha: float
) -> None:
    """Add quads to the shapes that matter until the share is known.

    Raises:
        _Ended: the run ended otherwise.
        DeviceError: device, baseline or clock failed.
    """
    undecided = list(range(len(states)))
    while undecided:
        for number in run.shuffled(undecided):
            for _ in range(plan.quads_a_look):
                state = states[number]
                if run.used_s + state.cost_s > plan.budget_s:
                    timings = [each.timing(threshold, alpha) for each in states]
                    raise _Ended(TimingOutcome.INCONCLUSIVE, _too_wide(run.used_s, timings, plan))
                _add_quad(run, state)
            _believable(state, alpha)
        timings = [state.timing(threshold, alpha) for state in states]
        undecided = _undecided(timings, threshold, plan)
    for state in states:
        _baseline_undisturbed(state, plan, alpha)


def _add_quad(run: Interleaved, state: _Shape) -> None:
    began_s = run.used_s
    quad = run.quad(state.shape, state.calls)
    state.cost_s = max(state.cost_s, run.used_s - began_s)
    if quad.trouble:
        state.dropped[quad.trouble] += 1
    else:
        state.quads.append(quad)


def _believable(state: _Shape, alpha: float) -> None:
    """Hold the times themselves against the floor.

    Raises:
        _Ended: a side's median time is below it at this level.
    """
    floor_us = state.floor_s * 1e6
    if median_interval([quad.baseline_s for quad in state.quads], alpha).high < state.floor_s:
        raise _Ended(
            TimingOutcome.GRADER_ERROR,
            f"{state.shape.label}: the baseline took less than the {floor_us:.0f} µs that the GPU needs at its peak; "
            "its clock or its data sheet is wrong",
        )
    ends = median_interval([quad.submission_s for quad in state.quads], alpha)
    if ends.high < state.floor_s:
        raise _Ended(
            TimingOutcome.INTEGRITY,
            f"{state.shape.label}: a call took {max(ends.high, 0.0) * 1e6:.0f} µs at the most, and the GPU needs "
            f"{floor_us:.0f} µs for it with every unit at its peak",
        )


def _baseline_undisturbed(state: _Shape, plan: Plan, alpha: float) -> None:
    """Hold the baseline between the submission's blocks against what it took before that ever ran.

    Raises:
        _Ended: it is slower by more than `Plan.baseline_drift`, noise aside.
    """
    alone_s = median_interval(state.alone_s, alpha).high
    beside_s = median([quad.baseline_s for quad in state.quads] or [0.0])
    if beside_s > alone_s * plan.baseline_drift:
        raise _Ended(
            TimingOutcome.INCONCLUSIVE,
            f"{state.shape.label}: the baseline took {beside_s / alone_s:.2f} times as long beside the submission as "
            "before it, or more; something may run on between its calls",
        )


def _undecided(timings: Sequence[ShapeTiming], threshold: Threshold, plan: Plan) -> list[int]:
    """Which shapes still keep the share from being known; none when it is."""
    high = min(timing.share.high for timing in timings)
    return [
        number
        for number, timing in enumerate(timings)
        if timing.share.low < high - plan.score_width
        or (
            high == 1
            and timing.interval.high > threshold.full_ratio
            and timing.interval.high > timing.interval.low * plan.resolution
        )
    ]


def _too_wide(used_s: float, timings: Sequence[ShapeTiming], plan: Plan) -> str:
    share = _gate(timings)
    return (
        f"after {used_s:.0f} s of {plan.budget_s:.0f} s on the GPU the share of the points is between "
        f"{share.low:.2f} and {share.high:.2f}, not known well enough{_not_counted(timings)}"
    )


def _not_counted(timings: Sequence[ShapeTiming]) -> str:
    """What was dropped and why, as the end of a sentence; "" for nothing."""
    dropped: Counter[str] = Counter()
    for each in (each for timing in timings for each in timing.dropped):
        dropped[each.reason] += each.quads
    quads = sum(timing.quads for timing in timings) + dropped.total()
    return "".join(f"; {count} of {quads} quads do not count: {why}" for why, count in dropped.most_common())


def _gate(timings: Sequence[ShapeTiming]) -> Interval:
    """Interval of the least share."""
    return Interval(
        low=min(timing.share.low for timing in timings), high=min(timing.share.high for timing in timings)
    )


def _verdict(
    outcome: TimingOutcome,
    reason: str,
    timings: tuple[ShapeTiming, ...],
    *,
    attempt: int,
    alpha: float,
    run: Interleaved | None,
) -> TimingVerdict:
    interval = _gate(timings) if timings else Interval(low=0.0, high=1.0)
    ratios = [timing.ratio for timing in timings if timing.ratio]
    share = {TimingOutcome.SCORED: interval.high, TimingOutcome.INTEGRITY: 0.0}.get(outcome)
    if outcome is TimingOutcome.SCORED:
        slowest = max(timings, key=lambda timing: timing.interval.low)
        reason = (
            f"{slowest.shape} takes {slowest.interval.low:.3f} to {slowest.interval.high:.3f} times the baseline, "
            f"{interval.low:.2f} to {interval.high:.2f} of the points: the higher end is given"
            f"{_not_counted(timings)}"
        )
    pending = share is None
    return TimingVerdict(
        outcome=outcome,
        share=share,
        interval=interval,
        reason=reason,
        attempt=attempt,
        next="done" if not pending else "requeue" if attempt < ATTEMPTS else "staff",
        shapes=timings,
        geometric_mean=math.exp(sum(map(math.log, ratios)) / len(ratios))
        if ratios and len(ratios) == len(timings)
        else None,
        device_s=run.used_s if run else 0.0,
        alpha=alpha,
        sm_clock_mhz=Interval(low=run.slowest_mhz, high=run.fastest_mhz) if run else None,
        temperature_c=run.hottest_c if run else None,
    )
