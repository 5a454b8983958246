"""A confidence interval for a median that stays valid however often it is looked at, and when one stops.

What is estimated is m, the median of the logarithm of a time ratio, from observations x₁, x₂, ... of which each lies
above m with probability 1/2 at the most given all before it, and below m likewise. Nothing else is assumed: no
distribution, no equal variances, no independence beyond that.

Derivation, for the lower end. Fix m and count K, how many of n observations lie above it. For any p > 1/2,

    Mₚ(n) = (2p)^K · (2(1−p))^(n−K)

is the likelihood ratio of a coin with p against a fair one. Its factor has an expectation of q·2p + (1−q)·2(1−p) ≤ 1
for every probability q ≤ 1/2, so it is a non-negative supermartingale that begins at 1, and so is its average M over a
fixed set of p. By Ville's inequality P(M(n) ≥ 1/α for any n) ≤ α: a run may stop at any moment for any reason. M grows
with K, so all m with K ≥ `rank(n, α)` are excluded at once, and these are the m below an order statistic.
The upper end is the same for the signs turned round.

Sources: Darling & Robbins 1967, "Confidence sequences for mean, variance, and median" (PNAS 58); Robbins 1970,
"Statistical methods related to the law of the iterated logarithm" (Ann. Math. Statist. 41), for mixtures; Howard &
Ramdas 2022, "Sequential estimation of quantiles" (Bernoulli 28), for the order statistics. Theirs mixes over a beta
distribution; ours is a finite average, which needs no special function and is valid by the same inequality.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from grader.outcome import Model

_COINS = 64
# The p of the average: evenly over (1/2, 1). Small ones detect a little over many observations, large ones at once.
_P = 0.5 + (np.arange(_COINS) + 0.5) / (2 * _COINS)
_LOG_ABOVE = np.log(2 * _P)
_LOG_BELOW = np.log(2 * (1 - _P))


class Interval(Model):
    """Both ends; infinite while there are too few observations to say."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """High less low."""
        return self.high - self.low if self.high > self.low else 0.0


@lru_cache(maxsize=4096)
def rank(n: int, alpha: float) -> int:
    """The least count above a point, out of `n`, that excludes it as median at level `alpha`; n + 1 where none does.

    Args:
        alpha: bound on the probability of ever excluding the true median from this side.

    Raises:
        ValueError: `alpha` is not between 0 and 1, or `n` is negative.
    """
    if not 0 < alpha < 1 or n < 0:
        raise ValueError(f"rank of n = {n} at alpha = {alpha}: give n ≥ 0 and 0 < alpha < 1")
    above: NDArray[np.int_] = np.arange(n + 1)[:, None]
    logs = above * _LOG_ABOVE + (n - above) * _LOG_BELOW
    largest = logs.max(axis=1, keepdims=True)
    evidence = np.log(np.exp(logs - largest).mean(axis=1)) + largest[:, 0]
    excluded = np.flatnonzero(evidence >= -math.log(alpha))
    return int(excluded[0]) if len(excluded) else n + 1


def median_interval(observations: Sequence[float], alpha: float) -> Interval:
    """The observations' median lies inside with probability 1 − 2·`alpha` at all looks together.

    Infinite observations have their place in the order; too few give an infinite interval.

    Raises:
        ValueError: an observation is NaN, which has no place in any order.
    """
    ordered = np.sort(np.asarray(observations, dtype=np.float64))
    n = len(ordered)
    if n and np.isnan(ordered[-1]):  # sort puts NaN last
        raise ValueError("an observation is NaN: leave out what was not measured, and say so")
    needed = rank(n, alpha)
    if needed > n:
        return Interval(low=-math.inf, high=math.inf)
    # Below the needed-th largest lie all points with `needed` observations above them; above the needed-th smallest
    # likewise. The evidence is 1 or less at half the count, so that needed > n / 2 and low ≤ high.
    return Interval(low=float(ordered[n - needed]), high=float(ordered[needed - 1]))
