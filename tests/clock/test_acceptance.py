"""Who earns what near the full-credit threshold, in hundreds of simulated gradings; the benchmark has thousands."""

import pytest

from tests.clock.worlds import CURVE, LOCKED, ROUGH, SHAPES, Threshold, Truth, graded

GRADINGS = 200
ONE = SHAPES[1:2]
STEEP = Threshold(full_ratio=1.05, zero_ratio=1.4, provenance="made up")
FLAT = Threshold(full_ratio=1.0, zero_ratio=10.0, provenance="made up")
CARDS = [pytest.param(LOCKED, CURVE, id="locked"), pytest.param(ROUGH, CURVE, id="rough")]
CURVES = [pytest.param(LOCKED, STEEP, id="steep"), pytest.param({"noise": 0.06}, FLAT, id="flat")]


def shares(times_full, world, curve):
    """Shares of gradings whose submission takes `times_full` times what full credit allows; None: pending."""
    truth = Truth(ratio=curve.full_ratio * times_full, **world)
    return [graded(truth, seed, ONE, curve).share for seed in range(GRADINGS)]


@pytest.mark.parametrize(("world", "curve"), CARDS)
def test_five_per_cent_inside_the_threshold_never_loses_points(world, curve):
    assert set(shares(0.95, world, curve)) == {1.0}


@pytest.mark.parametrize(("world", "curve"), [*CARDS, CURVES[0]])
def test_exactly_at_the_threshold_one_grading_in_a_hundred_loses_points_at_the_most(world, curve):
    found = shares(1.0, world, curve)
    assert None not in found
    assert sum(share < 1 for share in found) <= GRADINGS // 100


@pytest.mark.parametrize(("world", "curve"), [*CARDS, *CURVES])
def test_five_per_cent_outside_never_gains_full_marks(world, curve):
    found = shares(1.05, world, curve)
    truth = curve.share(curve.full_ratio * 1.05)
    assert max(found) < 1
    assert truth <= min(found)
    assert max(found) <= truth + 1 / 20


def test_the_interval_of_a_scored_share_holds_the_true_one_and_is_narrow():
    for seed in range(10):
        verdict = graded(Truth(ratio=1.4, **ROUGH), seed)
        assert verdict.interval.low <= CURVE.share(1.4) <= verdict.interval.high == verdict.share
        assert verdict.interval.width <= 1 / 20 + 1e-12


def test_the_slowest_shape_gates_and_the_geometric_mean_only_shows():
    slow = SHAPES[2].label
    verdict = graded(Truth(ratio=0.8, ratios={slow: 1.5}, **LOCKED))
    assert slow in verdict.reason
    assert CURVE.share(1.5) <= verdict.share <= CURVE.share(1.5) + 1 / 20
    assert verdict.geometric_mean == pytest.approx((0.8**3 * 1.5) ** 0.25, rel=0.01)
    assert CURVE.share(verdict.geometric_mean) == 1


def test_a_kernel_a_hundred_times_too_slow_earns_nothing_within_the_budget():
    verdict = graded(Truth(ratio=100.0))
    assert (verdict.outcome, verdict.share) == ("scored", 0)
    assert verdict.device_s < 60
