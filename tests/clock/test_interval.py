"""The interval is valid at every look: proved by counting all coin sequences, not by sampling some."""

import math

import numpy as np
import pytest

from grader.clock.interval import median_interval, rank


def ever_excluded(n_most: int, least: list[int]) -> float:
    """Probability that the heads of a fair coin reach `least[n]` at any n up to `n_most`: exact, by recursion."""
    alive = np.ones(1)
    excluded = 0.0
    for n in range(1, n_most + 1):
        grown = np.zeros(n + 1)
        grown[:-1] += alive / 2
        grown[1:] += alive / 2
        excluded += grown[least[n] :].sum()
        grown[least[n] :] = 0
        alive = grown
    return float(excluded)


@pytest.mark.parametrize("alpha", [0.05, 0.01 / 24])
def test_one_side_misses_the_median_with_probability_alpha_at_all_looks_together(alpha):
    missed = ever_excluded(600, [rank(n, alpha) for n in range(601)])
    assert alpha / 10 < missed <= alpha  # valid, and not so wide that it would be valid for nothing


def test_intervals_of_a_fixed_size_looked_at_again_and_again_are_not_valid():
    """Why the interval is what it is: binomial ends, right at each single n, miss far more often over many."""
    alpha = 0.025

    def fixed(n: int) -> int:
        tail = 0.0
        for heads in range(n, -1, -1):
            tail += math.comb(n, heads) / 2**n
            if tail > alpha:
                return heads + 1
        return 0

    assert ever_excluded(200, [fixed(n) for n in range(201)]) > 3 * alpha


@pytest.mark.parametrize("n", [15, 16, 40, 401])
def test_the_ends_are_order_statistics_on_both_sides_of_the_middle(n):
    found = median_interval([float(each) for each in range(n)], 0.01 / 24)
    assert found.low + found.high == n - 1
    assert 0 <= found.low < (n - 1) / 2 < found.high <= n - 1


def test_more_observations_give_a_narrower_interval():
    widths = [median_interval(list(np.linspace(0, 1, n)), 0.001).width for n in (20, 80, 320, 1280)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.15


@pytest.mark.parametrize("times", [[], [1.0], [1.0] * 10])
def test_too_few_observations_say_nothing(times):
    assert median_interval(times, 0.001) == median_interval([], 0.5)
    assert median_interval(times, 0.001).low == -math.inf


def test_outliers_of_any_size_move_the_ends_no_further_than_their_number():
    calm = list(np.linspace(0.9, 1.1, 60))
    wild = [*calm[:-5], *[math.inf] * 5]
    assert median_interval(wild, 0.001).low == median_interval(calm, 0.001).low
    assert math.isfinite(median_interval(wild, 0.001).high)


def test_a_time_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        median_interval([1.0] * 20 + [math.nan], 0.01)


@pytest.mark.parametrize(("n", "alpha"), [(-1, 0.1), (5, 0.0), (5, 1.0), (5, math.nan)])
def test_a_rank_needs_a_count_and_a_probability(n, alpha):
    with pytest.raises(ValueError, match="alpha"):
        rank(n, alpha)
