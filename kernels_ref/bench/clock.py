"""Times of calls on a GPU, taken in turns so that a drifting clock rate meets all of them alike."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch

ROUNDS = 30
WARM_UP_ROUNDS = 3
RESAMPLES = 2000
FLUSH_BYTES = 256 * 2**20
"""Written before each call so that no input is left in L2: more than the L2 of any GPU in specs."""


class Clock(Protocol):
    """Seconds that one call takes on the device."""

    def time(self, call: Callable[[], object]) -> float:
        """Run `call` once and return its seconds."""


class CudaClock:
    """CUDA events round one call, after L2 was emptied."""

    def __init__(self) -> None:
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

    def time(self, call: Callable[[], object]) -> float:
        """Seconds between the two events. The flush keeps the GPU busy while the host enqueues the call."""
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]
        start, end = events
        self.flush.zero_()
        start.record()
        call()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3


class Timing(NamedTuple):
    """Median of the rounds and its 95 % interval, seconds."""

    median_s: float
    low_s: float
    high_s: float


def take_turns(
    calls: Mapping[str, Callable[[], object]], clock: Clock, rounds: int = ROUNDS
) -> dict[str, Timing]:
    """Time every call once a round, `rounds` times after a few that do not count.

    A call that runs out of memory, beside what the others hold, is left out of the result.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(WARM_UP_ROUNDS + rounds):
        for name in list(times):
            try:
                seconds = clock.time(calls[name])
            except torch.OutOfMemoryError:
                del times[name]
                continue
            if number >= WARM_UP_ROUNDS:
                times[name].append(seconds)
    return {name: timing(taken) for name, taken in times.items()}


def timing(times_s: list[float]) -> Timing:
    """Median, and the interval in which 95 % of the medians of bootstrap resamples lie.

    Raises:
        ValueError: no times.

    Source: Efron & Tibshirani 1993, chapter 13 (percentile interval).
    """
    if not times_s:
        raise ValueError("no times were taken: give at least one round")
    taken = np.asarray(times_s)
    drawn = np.random.default_rng(0).choice(taken, (RESAMPLES, len(taken)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return Timing(float(np.median(taken)), float(low), float(high))
