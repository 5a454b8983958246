"""Blocks of baseline and submission in turns: what is measured, in which order, and what makes it count for nothing.

The unit is a quad: four blocks in the order ABBA or BAAB, a coin's secret choice, and an empty block before them. A
drift of the logarithm of the clock rate that is linear over a quad cancels in

    log ratio = (log s₁ + log s₂ − log b₁ − log b₂) / 2

with s and b the medians of the submission's and the baseline's blocks, each less the median empty call of that quad.
So a quad's ratio has the run's true ratio as its median whatever the clocks do between quads. What one block leaves
to the next, as heat or in a cache, does not cancel: L2 is emptied, and `grading` compares the baseline beside the
submission with what it took before the submission ever ran.
"""

import math
import random
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from grader.clock.device import ClockFault, Device, Sample, What
from specs.timing import TimedShape

CLOCK_TOLERANCE_S = 1e-3
"""By which both clocks may differ over a block: the time of reading them, a context switch of the judge included."""
CLOCK_TOLERANCE = 1e-3
"""And by which share: twice the 500 ppm by which Linux slews a clock at the most (MAXFREQ of timex.h)."""
WARM_UP_CALLS = 3
"""Before a side's first block of a shape: compiles, allocates, autotunes."""

LOUD = 0.5
"""Share of the baseline's call above which an empty one says little: where both are alike, noise decides."""
ALONE_CALLS = 20
"""Of the baseline before the submission runs: their median has an interval from 15 on, as levels are here."""


class Quad(NamedTuple):
    """Two blocks of each side and what troubled them."""

    log_ratio: float
    """Minus infinity where the submission takes no longer than an empty call."""
    baseline_s: float
    """Median call of both blocks, the empty call taken off."""
    submission_s: float
    """The same; 0 or less where it takes no longer than an empty call."""
    trouble: str
    """Why the quad does not count; "" where it does."""


class WarmUp(NamedTuple):
    """What a shape costs before anything counts."""

    alone_s: tuple[float, ...]
    """Calls of the baseline before the submission was ever run, the empty call taken off; none if troubled."""
    trouble: str
    """Why there are none; "" where there are."""
    baseline_cost_s: float
    """For which a call holds the device: its inputs, the flush and the check included."""


class Interleaved:
    """One run on one device: takes blocks, watches both clocks, remembers what was sampled."""

    def __init__(self, device: Device, order: random.Random) -> None:
        """Begin a run.

        Args:
            order: the secret order; `random.SystemRandom()` unless a test must repeat itself.

        Raises:
            DeviceError: the device does not answer.
        """
        self._device = device
        self._order = order
        self._first = self._last = device.sample()
        self.slowest_mhz = self.fastest_mhz = self._last.sm_clock_mhz
        self.hottest_c = self._last.temperature_c

    @property
    def used_s(self) -> float:
        """Seconds since the run began, by the witness clock, up to the last sample."""
        return self._last.witness_s - self._first.witness_s

    def shuffled(self, shapes: Sequence[int]) -> list[int]:
        """The same in a secret order."""
        return self._order.sample(list(shapes), len(shapes))

    def warm_up(self, shape: TimedShape) -> WarmUp:
        """Time the baseline alone; call it for every shape before the submission runs at all.

        Raises:
            DeviceError: device, baseline or clock failed.
        """
        self._block("baseline", shape, WARM_UP_CALLS)
        before = self._last
        empty_s = median(self._block("empty", shape, ALONE_CALLS))
        began_s = self._last.witness_s
        times = self._block("baseline", shape, ALONE_CALLS)
        cost_s = (self._last.witness_s - began_s) / ALONE_CALLS
        trouble = before.trouble or self._last.trouble
        return WarmUp(() if trouble else tuple(time_s - empty_s for time_s in times), trouble, cost_s)

    def warm_up_submission(self, shape: TimedShape) -> float:
        """Let the submission compile and tune itself; for how many seconds its last call held the device.

        Raises:
            DeviceError: device or clock failed.
        """
        self._block("submission", shape, WARM_UP_CALLS)
        began_s = self._last.witness_s
        self._block("submission", shape, 1)
        return self._last.witness_s - began_s

    def quad(self, shape: TimedShape, calls: int) -> Quad:
        """Measure one quad.

        Raises:
            DeviceError: device, baseline or clock failed.
        """
        troubles = [self._last.trouble]
        empty_s = median(self._block("empty", shape, calls))
        troubles.append(self._last.trouble)
        first, second = self._order.choice(_ORDERS)
        logs: dict[What, float] = {"baseline": 0.0, "submission": 0.0}
        times: dict[What, list[float]] = {"baseline": [], "submission": []}
        for side in (first, second, second, first):
            block = [time_s - empty_s for time_s in self._block(side, shape, calls)]
            troubles.append(self._last.trouble)
            median_s = median(block)
            logs[side] += (math.log(median_s) if median_s > 0 else -math.inf) / 2
            times[side].extend(block)
        trouble = next((each for each in troubles if each), "")
        # The judge's machine was busy with something else; of a side that took nothing in quiet the floor speaks.
        loud = empty_s > LOUD * median(times["baseline"])
        if not trouble and (math.isinf(logs["baseline"]) or (loud and math.isinf(logs["submission"]))):
            trouble = "an empty call took as long as the work"
        return Quad(
            logs["submission"] - logs["baseline"] if math.isfinite(logs["baseline"]) else math.nan,
            median(times["baseline"]),
            median(times["submission"]),
            trouble,
        )

    def _block(self, what: What, shape: TimedShape, calls: int) -> Sequence[float]:
        """Times of one block, seconds, each of them a positive number, between two samples that agree with them."""
        self._device.flush_l2()
        times = self._device.time_block(what, shape, calls)
        began_s = self._last.witness_s
        self._sample()
        if len(times) != calls:
            raise ClockFault(f"{what} of {shape.label}: {calls} calls were asked for and {len(times)} timed")
        # NaN compares false with everything.
        wrong = [each for each in times if not 0 < each < math.inf]
        if wrong:
            raise ClockFault(f"{what} of {shape.label}: a call took {wrong[0]} s by the judge's clock")
        if sum(times) > (self._last.witness_s - began_s) * (1 + CLOCK_TOLERANCE) + CLOCK_TOLERANCE_S:
            raise ClockFault(
                f"{what} of {shape.label}: the calls together took longer than the block of them"
            )
        return times

    def _sample(self) -> None:
        """Read the device, and compare both clocks over the time since it was read last."""
        sample: Sample = self._device.sample()
        judge_s = sample.judge_s - self._last.judge_s
        witness_s = sample.witness_s - self._last.witness_s
        apart_s = judge_s - witness_s
        if not (witness_s >= 0 and abs(apart_s) <= CLOCK_TOLERANCE_S + CLOCK_TOLERANCE * witness_s):
            raise ClockFault(f"the judge's clock went {apart_s:+.3g} s against a second clock: it jumped")
        self._last = sample
        self.slowest_mhz = min(self.slowest_mhz, sample.sm_clock_mhz)
        self.fastest_mhz = max(self.fastest_mhz, sample.sm_clock_mhz)
        self.hottest_c = max(self.hottest_c, sample.temperature_c)


_ORDERS: tuple[tuple[What, What], ...] = (("baseline", "submission"), ("submission", "baseline"))
