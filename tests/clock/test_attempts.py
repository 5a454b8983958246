"""A timed check that nobody could decide is tried again, then listed for staff; a share of the points is points."""

import pytest

from grader import attempts
from grader.calls.faults import NeedsGpu, Slow
from grader.calls.runner import LocalRunner
from grader.calls.submission import Submission
from grader.checks.scoring import score
from grader.clock.interval import Interval
from grader.clock.verdict import TimingOutcome, TimingVerdict, key_of
from grader.report import CheckResult, Environment, GradeReport, Outcome, SubmissionInfo
from grader.summary import note_on
from specs.assignment import assignment

FLASH = assignment("flash_attention")
FAST = FLASH.exercise("performance")
FAST_ID = "flash_attention.performance"


def verdict(outcome=TimingOutcome.SCORED, share=None, attempt=1, next_="done"):
    return TimingVerdict(
        outcome=outcome,
        share=share,
        interval=Interval(low=0.0, high=1.0),
        reason="why",
        attempt=attempt,
        next=next_,
        device_s=3.0,
        alpha=0.003,
    )


UNDECIDED = verdict(TimingOutcome.INCONCLUSIVE, next_="requeue")
FOR_STAFF = verdict(TimingOutcome.INCONCLUSIVE, attempt=3, next_="staff")


def check(name, timing=None, outcome=None):
    return CheckResult(
        name=name, claim="fast", outcome=outcome or timing.check_outcome, weight=1.0, timing=timing
    )


def report(*checks):
    result = score(FLASH, FAST, checks)
    return GradeReport(
        kind="official",
        submission=SubmissionInfo(id="ada"),
        environment=Environment(isolation="sandbox", kit_version="0"),
        exercises=(result,),
    )


def test_a_share_of_a_timed_check_is_that_share_of_its_weight():
    found = score(FLASH, FAST, [check("forward", verdict(share=0.5)), check("backward", verdict(share=1.0))])
    assert found.points == pytest.approx(FAST.points * 0.75)
    assert found.outcome is Outcome.FAILED
    assert found.pending_points == 0


def test_an_undecided_check_leaves_its_points_pending_beside_a_decided_one():
    found = score(FLASH, FAST, [check("forward", verdict(share=0.5)), check("backward", UNDECIDED)])
    assert found.points == pytest.approx(FAST.points * 0.25)
    assert found.pending_points == pytest.approx(FAST.points / 2)


def test_a_report_with_verdicts_reads_back_as_it_was():
    written = report(check("forward", verdict(share=0.25)), check("backward", FOR_STAFF))
    assert GradeReport.model_validate_json(written.model_dump_json()) == written


def test_no_report_gives_a_check_another_outcome_than_its_verdict():
    with pytest.raises(ValueError, match="its timing says failed"):
        check("forward", verdict(share=0.5), Outcome.PASSED)


def test_the_undecided_are_timed_again_and_the_decided_are_not():
    assert attempts.to_be_timed_again(report(check("f", UNDECIDED)), True) == ("flash_attention.performance",)
    assert attempts.to_be_timed_again(report(check("f", verdict(share=0.5))), True) == ()
    assert attempts.to_be_timed_again(report(check("f", FOR_STAFF)), True) == ()


def test_what_waited_for_a_gpu_is_timed_where_there_is_one():
    waits = report(check("f", outcome=Outcome.NEEDS_GPU))
    assert attempts.to_be_timed_again(waits, True) == ("flash_attention.performance",)
    assert attempts.to_be_timed_again(waits, False) == ()


def test_after_all_attempts_the_table_names_the_exercise_for_staff():
    assert "for staff, no verdict on speed in all attempts: flash_attention.performance" in note_on(
        report(check("f", FOR_STAFF))
    )


def test_earlier_verdicts_are_found_by_exercise_and_check():
    before = report(check("forward", verdict(share=0.5)), check("backward", UNDECIDED))
    assert set(attempts.earlier_verdicts(before, [FAST_ID])) == {
        key_of(FAST_ID, "forward"),
        key_of(FAST_ID, "backward"),
    }
    assert attempts.earlier_verdicts(before, ["memory.state"]) == {}
    assert attempts.earlier_verdicts(None, []) == {}


def test_two_checks_of_one_name_in_two_exercises_keep_a_verdict_each():
    before = report(check("test_time", UNDECIDED))
    other = before.exercises[0].model_copy(
        update={"id": "memory.other", "checks": (check("test_time", FOR_STAFF),)}
    )
    both = before.model_copy(update={"exercises": (*before.exercises, other)})
    assert attempts.earlier_verdicts(both, [FAST_ID, "memory.other"]) == {
        key_of(FAST_ID, "test_time"): UNDECIDED,
        key_of("memory.other", "test_time"): FOR_STAFF,
    }


class Timed:
    """A timer that finds what it was told to."""

    def __init__(self, found):
        self.found, self.asked = found, []

    def time(self, spec, exercise, file, function, direction, check):
        self.asked.append((file, function, direction, check))
        return self.found


@pytest.fixture
def handed_in(tmp_path):
    (tmp_path / "flash_attention").mkdir()
    (tmp_path / "flash_attention" / "forward.py").write_text("def flash_forward(*_): ...\n")
    return tmp_path


def begun(folder, timer=None):
    submission = Submission(LocalRunner(folder), timer)
    submission.begin_check("flash_attention.performance", "test_forward_is_timed")
    return submission


def test_without_a_gpu_the_points_are_pending_and_the_message_says_what_is_missing(handed_in):
    submission = begun(handed_in)
    with pytest.raises(NeedsGpu, match="needs a GPU, to time 3 shapes in an official run"):
        submission.flash_attention.flash_forward.timed("forward")
    assert submission.timing is None


def test_the_timer_is_asked_for_the_function_by_the_checks_name(handed_in):
    timer = Timed(verdict(share=1.0))
    begun(handed_in, timer).flash_attention.flash_forward.timed("forward")
    assert timer.asked == [("forward.py", "flash_forward", "forward", "test_forward_is_timed")]


@pytest.mark.parametrize(
    "found", [verdict(share=0.5), UNDECIDED, verdict(TimingOutcome.INTEGRITY, share=0.0)]
)
def test_less_than_all_is_raised_as_the_outcome_that_it_is(handed_in, found):
    submission = begun(handed_in, Timed(found))
    with pytest.raises(Slow, match="why") as caught:
        submission.flash_attention.flash_forward.timed("forward")
    assert caught.value.outcome is found.check_outcome
    assert submission.timing == found


def test_the_next_check_begins_without_the_verdict_of_the_last(handed_in):
    submission = begun(handed_in, Timed(verdict(share=1.0)))
    submission.flash_attention.flash_forward.timed("forward")
    submission.begin_check("flash_attention.performance", "another")
    assert submission.timing is None


def test_what_an_attempt_decided_stays_when_another_check_is_timed_again():
    caught = check("forward", outcome=Outcome.INTEGRITY)
    before = report(caught, check("backward", UNDECIDED))
    now = report(check("forward", verdict(share=1.0)), check("backward", verdict(share=1.0, attempt=2)))
    (found,) = attempts.with_what_was_decided(before, now, ["flash_attention.performance"]).exercises
    assert [each.outcome for each in found.checks] == [Outcome.INTEGRITY, Outcome.PASSED]
    assert found.points == pytest.approx(FAST.points / 2)
    assert attempts.with_what_was_decided(before, now, []) == now
