"""A device whose truth is known: what the timing judge is proved with. No number of it was measured on any GPU."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.clock.device import DeviceLost, OutOfMemory, Sample, Throttle, What
from specs.timing import TimedShape

FLUSH_S = 1e-4
SAMPLE_S = 1e-4
START_S = 1000.0


@dataclass(frozen=True)
class Episode:
    """Between two moments of the run something else happens on the card."""

    begin_s: float = 0.0
    end_s: float = math.inf
    baseline: float = 1.0
    """By which factor the baseline is slower meanwhile."""
    submission: float = 1.0
    throttle: Throttle = Throttle.NONE
    neighbours: tuple[int, ...] = ()


@dataclass(frozen=True)
class Truth:
    """What a simulated card does; times in seconds, of the run unless said otherwise."""

    ratio: float = 1.0
    """The submission's time over the baseline's."""
    ratios: Mapping[str, float] = field(default_factory=dict)
    """By a shape's label, where it differs."""
    baseline_s: float = 1.5e-3
    """A call of the baseline, at every shape."""
    empty_s: float = 3e-5
    """What a call costs beside: it is in every time."""
    noise: float = 0.02
    """Standard deviation of the logarithm of a call's time."""
    tuning_s: float = 0.0
    """What the submission's first call of a shape takes more."""
    drift_per_s: float = 0.0
    """Slope of the logarithm of both sides' times."""
    wander: float = 0.0
    """And its random walk: standard deviation after a second."""
    outliers: float = 0.0
    """Share of calls that take `outlier_factor` as long."""
    outlier_factor: float = 4.0
    episodes: tuple[Episode, ...] = ()
    beside: float = 1.0
    """By which factor the baseline is slower once the submission ran: it left something running."""
    warm: float = 0.9
    """Factor of a block's first call when L2 was not emptied before it."""
    jumps: tuple[tuple[float, float], ...] = ()
    """When the judge's clock jumps, and by how much."""
    lost_at_s: float = math.inf
    """When the card falls off the bus."""
    no_room_at_s: float = math.inf
    """From when on the baseline finds no memory."""
    reading: float | None = None
    """What the last call of each submission block reads instead of its time."""
    missing_calls: int = 0
    """How many calls of a block go unreported."""


class SimulatedDevice:
    """Implements `Device`; the same seed gives the same times."""

    def __init__(self, truth: Truth, seed: int) -> None:
        self.truth = truth
        self._random = np.random.default_rng(seed)
        self._now_s = 0.0
        self._wandered = 0.0
        self._cold = False
        self._submission_ran = False
        self._tuned: set[str] = set()
        self.blocks: list[What] = []
        """Which blocks were asked for, in order."""

    def flush_l2(self) -> None:
        """Take the time of a flush; the next block's first call is cold."""
        self._now_s += FLUSH_S
        self._cold = True

    def sample(self) -> Sample:
        """The truth about now."""
        self._answers()
        self._now_s += SAMPLE_S
        now = self._episodes()
        throttle = 0
        for each in now:
            throttle |= int(each.throttle)
        jumped_s = sum(by_s for at_s, by_s in self.truth.jumps if at_s <= self._now_s)
        return Sample(
            judge_s=START_S + self._now_s + jumped_s,
            witness_s=self._now_s,
            sm_clock_mhz=1200.0 if throttle else 1700.0,
            temperature_c=90.0 if throttle & (Throttle.SW_THERMAL | Throttle.HW_THERMAL) else 60.0,
            throttle=throttle,
            neighbours=tuple(pid for each in now for pid in each.neighbours),
        )

    def time_block(self, what: What, shape: TimedShape, calls: int) -> Sequence[float]:
        """Draw the times of a block.

        Raises:
            OutOfMemory, DeviceLost: when the truth says so.
        """
        self._answers()
        truth = self.truth
        if what == "baseline" and self._now_s >= truth.no_room_at_s:
            raise OutOfMemory(f"the baseline found no memory on the GPU for {shape.label}")
        self.blocks.append(what)
        self._submission_ran |= what == "submission"
        times = self._work_s(what, shape, calls) * np.exp(self._random.normal(0.0, truth.noise, calls))
        if truth.outliers:
            times[self._random.random(calls) < truth.outliers] *= truth.outlier_factor
        if not self._cold:
            times[0] *= truth.warm
        self._cold = False
        times += truth.empty_s * np.exp(self._random.normal(0.0, truth.noise, calls))
        if what == "submission" and shape.label not in self._tuned:
            self._tuned.add(shape.label)
            times[0] += truth.tuning_s
        began_s = self._now_s
        ends_s = began_s + np.cumsum(times + FLUSH_S)
        self._now_s = float(ends_s[-1])
        self._wandered += truth.wander * math.sqrt(self._now_s - began_s) * self._random.normal()
        for at_s, by_s in truth.jumps:
            if began_s < at_s <= self._now_s:
                times[int(np.searchsorted(ends_s, at_s))] += by_s
        if truth.reading is not None and what == "submission":
            times[-1] = truth.reading
        return list(map(float, times[: calls - truth.missing_calls]))

    def _work_s(self, what: What, shape: TimedShape, calls: int) -> float:
        """Seconds of a call amid the block that begins now, without noise and without what an empty one takes."""
        truth = self.truth
        if what == "empty":
            return 0.0
        ratio = truth.ratios.get(shape.label, truth.ratio) if what == "submission" else 1.0
        call_s = truth.baseline_s * ratio * math.exp(truth.drift_per_s * self._now_s)
        amid_s = calls / 2 * (call_s + truth.empty_s + FLUSH_S)
        work_s = call_s * math.exp(truth.drift_per_s * amid_s + self._wandered)
        if what == "baseline" and self._submission_ran:
            work_s *= truth.beside
        for each in self._episodes():
            work_s *= each.submission if what == "submission" else each.baseline
        return work_s

    def _episodes(self) -> list[Episode]:
        return [each for each in self.truth.episodes if each.begin_s <= self._now_s < each.end_s]

    def _answers(self) -> None:
        if self._now_s >= self.truth.lost_at_s:
            raise DeviceLost("the GPU does not answer any more: it may have fallen off the bus")
