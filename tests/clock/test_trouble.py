"""When the card, its neighbours or the clock misbehave, the points stay pending, and a sentence says why."""

import math

import pytest

from grader.clock.device import DeviceError, Throttle
from grader.clock.grading import ATTEMPTS, SUBMISSION_BUDGET_S, Plan
from grader.clock.verdict import TimingOutcome, TimingVerdict
from grader.report import Outcome
from tests.clock.worlds import CURVE, LOCKED, SHAPES, Episode, Truth, graded

AMID = 0.7
"""A moment at which a grading of two to three seconds is in its midst."""
THROTTLED = Episode(AMID, baseline=1.3, submission=1.6, throttle=Throttle.HW_THERMAL)
SHARED = Episode(AMID, baseline=1.5, submission=2.0, neighbours=(4242,))
TROUBLES = {
    "throttled to the end": (Truth(episodes=(THROTTLED,)), "inconclusive", "throttled (too warm"),
    "a neighbour to the end": (Truth(episodes=(SHARED,)), "inconclusive", "another process was on the GPU"),
    "no memory at the start": (Truth(no_room_at_s=0), "grader_error", "found no memory"),
    "no memory amid": (Truth(no_room_at_s=AMID), "grader_error", "found no memory"),
    "the card vanishes at once": (Truth(lost_at_s=0), "grader_error", "does not answer"),
    "the card vanishes amid": (Truth(lost_at_s=AMID), "grader_error", "does not answer"),
    "the clock jumps forward": (
        Truth(jumps=((AMID, 3600.0),)),
        "grader_error",
        "+3.6e+03 s against a second clock",
    ),
    "the clock jumps backward": (
        Truth(jumps=((AMID, -3600.0),)),
        "grader_error",
        "-3.6e+03 s against a second",
    ),
    "the clock jumps a little": (Truth(jumps=((AMID, 0.003),)), "grader_error", "it jumped"),
    "the clock becomes no number": (Truth(jumps=((AMID, math.nan),)), "grader_error", "it jumped"),
    "tuning without end": (Truth(tuning_s=1.55), "inconclusive", "held the GPU for 6 s of 6 s"),
    "a slower baseline": (Truth(beside=1.3), "inconclusive", "times as long beside the submission"),
    "a time that is NaN": (Truth(reading=math.nan), "grader_error", "a call took nan s"),
    "a time that is infinite": (Truth(reading=math.inf), "grader_error", "a call took inf s"),
    "a time of zero": (Truth(reading=0.0), "grader_error", "a call took 0.0 s"),
    "a negative time": (Truth(reading=-1e-3), "grader_error", "a call took -0.001 s"),
    "a time longer than the block": (Truth(reading=7.0), "grader_error", "longer than the block"),
    "too few times": (Truth(missing_calls=1), "grader_error", "calls were asked for and"),
    "no times": (Truth(missing_calls=9), "grader_error", "and 0 timed"),
    "an empty call as long as the baseline": (
        Truth(baseline_s=1e-9),
        "grader_error",
        "its clock or its data sheet is wrong",
    ),
    "a baseline below the floor": (Truth(baseline_s=1e-4), "grader_error", "its clock or its data sheet"),
}


@pytest.mark.parametrize("ratio", [0.9, 1.1, 5.0])
@pytest.mark.parametrize(("truth", "outcome", "words"), TROUBLES.values(), ids=TROUBLES)
def test_trouble_leaves_the_points_pending_and_says_why(truth, outcome, words, ratio):
    truth = Truth(**{**vars(truth), "ratio": ratio})
    verdict = graded(truth, shapes=SHAPES, plan=Plan(budget_s=6))
    assert (verdict.outcome, verdict.share, verdict.pending) == (outcome, None, True)
    assert words in verdict.reason
    assert verdict.check_outcome.pending
    assert verdict.device_s < 6.5


def test_a_short_throttle_is_dropped_said_and_scored_rightly():
    episode = Episode(AMID, AMID + 0.4, baseline=1.3, submission=3.0, throttle=Throttle.POWER_CAP)
    calm, troubled = (graded(Truth(ratio=1.5, episodes=each, **LOCKED)) for each in ((), (episode,)))
    assert troubled.outcome is TimingOutcome.SCORED
    assert CURVE.share(1.5) <= troubled.share <= CURVE.share(1.5) + 1 / 20
    assert "quads do not count: the GPU throttled (power cap)" in troubled.reason
    assert sum(each.quads for shape in troubled.shapes for each in shape.dropped) >= 4
    assert troubled.device_s > calm.device_s
    assert troubled.sm_clock_mhz.low < troubled.sm_clock_mhz.high


def test_first_calls_that_compile_and_tune_are_paid_for_and_not_timed():
    tuned = graded(Truth(ratio=1.0, tuning_s=5.0))
    assert (tuned.outcome, tuned.share) == ("scored", 1)
    assert 20 < tuned.device_s < 30


@pytest.mark.parametrize("noise", [0.06, 0.2])
def test_noise_alone_does_not_look_like_a_slower_baseline(noise):
    verdicts = [graded(Truth(ratio=3.0, noise=noise), seed) for seed in range(20)]
    assert {verdict.outcome for verdict in verdicts} == {TimingOutcome.SCORED}


def test_pending_is_queued_again_twice_and_then_listed_for_staff():
    after = [graded(Truth(lost_at_s=AMID), attempt=attempt).next for attempt in (1, 2, 3)]
    assert after == ["requeue", "requeue", "staff"]
    assert graded(Truth(ratio=1.0)).next == "done"
    with pytest.raises(ValueError, match="attempt 4"):
        graded(Truth(), attempt=4)


def test_noise_without_end_is_inconclusive_and_all_attempts_hold_a_gpu_for_three_minutes_at_the_most():
    verdicts = [
        graded(Truth(ratio=1.12, noise=0.6), seed=attempt, attempt=attempt)
        for attempt in range(1, ATTEMPTS + 1)
    ]
    assert {verdict.outcome for verdict in verdicts} == {TimingOutcome.INCONCLUSIVE}
    assert all("not known well enough" in verdict.reason for verdict in verdicts)
    assert 150 < sum(verdict.device_s for verdict in verdicts) <= SUBMISSION_BUDGET_S == 180


@pytest.mark.parametrize("ratio", [0.2, 1e-3])
def test_a_time_below_the_floor_is_tampering_and_earns_nothing(ratio):
    verdict = graded(Truth(ratio=ratio))
    assert (verdict.outcome, verdict.share, verdict.next) == (TimingOutcome.INTEGRITY, 0, "done")
    assert verdict.check_outcome is Outcome.INTEGRITY
    assert "with every unit at its peak" in verdict.reason


def test_one_shape_below_the_floor_is_enough():
    verdict = graded(Truth(ratio=1.0, ratios={SHAPES[3].label: 0.1}))
    assert verdict.outcome is TimingOutcome.INTEGRITY
    assert SHAPES[3].label in verdict.reason


def test_a_single_lucky_time_below_the_floor_is_not_tampering():
    verdict = graded(Truth(ratio=1.0, reading=1e-6))
    assert verdict.outcome is TimingOutcome.SCORED


def test_no_shapes_or_one_of_them_twice_is_the_callers_mistake():
    for shapes in ((), (SHAPES[0], SHAPES[0])):
        with pytest.raises(ValueError, match="different shapes"):
            graded(Truth(), shapes=shapes)


def test_what_a_submission_does_wrong_in_a_call_passes_through(monkeypatch):
    class Crashed(Exception):
        """Stands for a Fault of grader.calls; no DeviceError."""

    def crash(*_):
        raise Crashed

    assert not issubclass(Crashed, DeviceError)
    monkeypatch.setattr("grader.clock.simulated.SimulatedDevice.time_block", crash)
    with pytest.raises(Crashed):
        graded(Truth())


def test_a_verdict_survives_its_way_through_json_and_contradicts_itself_never():
    for truth in (Truth(), Truth(lost_at_s=0), Truth(ratio=0.1)):
        verdict = graded(truth)
        assert TimingVerdict.model_validate_json(verdict.model_dump_json()) == verdict
    with pytest.raises(ValueError, match="a verdict of scored"):
        TimingVerdict.model_validate({**graded(Truth()).model_dump(), "share": None})


def test_a_full_share_passes_and_a_part_of_it_fails_the_check_for_the_rest():
    assert graded(Truth(ratio=1.0)).check_outcome is Outcome.PASSED
    assert graded(Truth(ratio=1.5)).check_outcome is Outcome.FAILED
