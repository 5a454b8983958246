"""What one run measures and in which order, and that neither drift nor the round trip gets into a ratio."""

import math
import random
import statistics

import pytest

from grader.clock.interleave import ALONE_CALLS, Interleaved
from grader.clock.simulated import SimulatedDevice
from tests.clock.worlds import LOCKED, SHAPES, Episode, Throttle, Truth, graded

QUIET = {"noise": 1e-6}
FORWARD = SHAPES[0]


def quads(truth, count=8, seed=0, calls=5):
    device = SimulatedDevice(truth, seed)
    run = Interleaved(device, random.Random(seed))
    return [run.quad(FORWARD, calls) for _ in range(count)], device


def test_every_quad_is_abba_or_baab_after_an_empty_block_and_the_choice_is_not_foreseen():
    _, device = quads(Truth(), count=64)
    orders = ["".join(block[0] for block in device.blocks[at : at + 5]) for at in range(0, 320, 5)]
    assert set(orders) == {"ebssb", "esbbs"}
    assert 16 < orders.count("ebssb") < 48
    _, other = quads(Truth(), count=64, seed=1)
    assert device.blocks != other.blocks


def test_a_drift_that_is_linear_over_a_quad_cancels():
    """Blocks in the order A, B, A, B would be off by a block's drift, here 0.8 %."""
    measured, _ = quads(Truth(ratio=1.3, drift_per_s=1.0, **QUIET))
    assert measured[-1].baseline_s > 1.2 * measured[0].baseline_s
    for quad in measured:
        assert math.exp(quad.log_ratio) == pytest.approx(1.3, rel=1e-3)


def test_what_an_empty_call_costs_is_taken_off():
    """With a round trip half as long as the baseline a ratio of 2 would look like 1.67."""
    measured, _ = quads(Truth(ratio=2.0, baseline_s=1e-3, empty_s=5e-4, **QUIET))
    assert math.exp(measured[0].log_ratio) == pytest.approx(2.0, rel=1e-3)
    assert measured[0].baseline_s == pytest.approx(1e-3, rel=1e-3)


def test_l2_is_emptied_before_every_block():
    cold, _ = quads(Truth(warm=0.01, **QUIET), count=1, calls=1)
    assert cold[0].baseline_s == pytest.approx(1.5e-3, rel=1e-3)


def test_trouble_at_any_sample_of_a_quad_spoils_it_and_no_other():
    measured, _ = quads(Truth(episodes=(Episode(0.05, 0.06, throttle=Throttle.HW_THERMAL),)))
    assert [bool(quad.trouble) for quad in measured].count(True) == 1
    assert "too warm" in next(quad.trouble for quad in measured if quad.trouble)


@pytest.mark.parametrize("harmless", [Throttle.GPU_IDLE, Throttle.APPLICATION_CLOCKS, Throttle.NONE])
def test_clocks_that_rest_or_that_somebody_set_are_no_trouble(harmless):
    measured, _ = quads(Truth(episodes=(Episode(throttle=harmless),)), count=2)
    assert not any(quad.trouble for quad in measured)


def test_a_throttle_reason_that_nobody_knows_yet_is_trouble():
    measured, _ = quads(Truth(episodes=(Episode(throttle=Throttle(0x800)),)), count=1)
    assert "0x800" in measured[0].trouble


def test_the_baseline_is_timed_alone_before_the_submission_runs_at_all():
    device = SimulatedDevice(Truth(), 0)
    run = Interleaved(device, random.Random(0))
    warm = run.warm_up(FORWARD)
    assert device.blocks == ["baseline", "empty", "baseline"]
    assert len(warm.alone_s) == ALONE_CALLS
    assert statistics.median(warm.alone_s) == pytest.approx(1.5e-3, rel=0.05)
    throttled = SimulatedDevice(Truth(episodes=(Episode(throttle=Throttle.POWER_CAP),)), 0)
    assert Interleaved(throttled, random.Random(0)).warm_up(FORWARD).alone_s == ()


def test_the_same_seed_measures_the_same_and_another_one_does_not():
    verdicts = [graded(Truth(ratio=1.3), seed) for seed in (3, 3, 4)]
    assert verdicts[0] == verdicts[1] != verdicts[2]


def test_noise_of_a_call_shrinks_in_a_quad():
    measured, _ = quads(Truth(**LOCKED), count=200)
    assert statistics.stdev(quad.log_ratio for quad in measured) < 0.01
