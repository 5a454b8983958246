"""What a cohort asks a judge to time again, and what it leaves as it is."""

from dataclasses import dataclass, field

import pytest

from grader import cohort
from grader.checks.scoring import score
from grader.clock.verdict import TimingOutcome, TimingVerdict
from grader.judges import Order
from grader.kit import find_kit
from grader.report import CheckResult, GradeReport, Outcome
from specs.assignment import assignment
from tests.clock.test_attempts import FAST_ID, UNDECIDED, verdict

OTHER_ID = "memory.state_bytes_per_parameter"
FAST = assignment("flash_attention").exercise("performance")
UNMEASURED = next(each for each in FAST.timing.thresholds if FAST.timing.status(each) == "unmeasured")


def on_an_unmeasured_card(found):
    return found.model_copy(update={"fingerprint": {"gpu": UNMEASURED}})


@dataclass
class Bench:
    """A cohort of one submission, whose judge is told what it finds out about speed."""

    order: Order
    submission: object
    found: TimingVerdict = UNDECIDED
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def judged(self, order, staged, info, scratch, current, running, earlier):
        self.asked.append(order.only)
        exercises = []
        for each in order.only:
            name, _, short = each.partition(".")
            timing = self.found if each == FAST_ID else None
            if (
                each == FAST_ID
                and timing.fingerprint.get("gpu") == UNMEASURED
                and not order.accept_unmeasured
            ):
                timing, outcome = None, Outcome.NEEDS_GPU
            else:
                outcome = timing.check_outcome if timing else Outcome.PASSED
            check = CheckResult(name="test_it", claim="It is so.", outcome=outcome, timing=timing)
            exercises.append(score(assignment(name), assignment(name).exercise(short), (check,)))
        return GradeReport(
            kind="official",
            submission=info,
            environment=current,
            exercises=tuple(exercises),
            only=order.only,
        )

    def grade(self, *only, **changes):
        """The exercises that the judge was asked for in each attempt, and the report."""
        self.asked.clear()
        order = Order(**{**vars(self.order), "only": only, **changes})
        (row,) = cohort.grade(order, [self.submission])
        return list(self.asked), row.report


@pytest.fixture
def bench(tmp_path, monkeypatch):
    submission = tmp_path / "ada"
    for file in ("flash_attention/forward.py", "memory/state.py"):
        (submission / file).parent.mkdir(parents=True)
        (submission / file).write_text("x = 1\n")
    made = Bench(Order(find_kit(), tmp_path / "out", "process", b"seed", 1, clock="cpu"), submission)
    monkeypatch.setattr(cohort, "run_judge", made.judged)
    return made


def test_what_nobody_could_decide_is_asked_again_alone(bench):
    asked, _ = bench.grade(FAST_ID, OTHER_ID)
    assert asked == [(FAST_ID, OTHER_ID), (FAST_ID,), (FAST_ID,)]


def test_a_run_for_one_exercise_times_no_other_again(bench):
    bench.grade(FAST_ID, OTHER_ID)
    asked, report = bench.grade(OTHER_ID)
    assert asked == []
    assert {each.id for each in report.exercises} == {FAST_ID, OTHER_ID}


def test_nor_does_it_where_it_has_something_to_grade(bench):
    bench.grade(FAST_ID)
    asked, report = bench.grade(OTHER_ID)
    assert asked == [(OTHER_ID,)]
    assert {each.id for each in report.exercises} == {FAST_ID, OTHER_ID}


def test_points_by_a_threshold_that_nobody_measured_end_with_the_option_and_come_back_with_it(bench):
    bench.found = on_an_unmeasured_card(verdict(share=0.5))
    _, report = bench.grade(FAST_ID, OTHER_ID, accept_unmeasured=True)
    earned = report.points
    assert bench.grade(FAST_ID, OTHER_ID, accept_unmeasured=True) == ([], report)
    asked, without = bench.grade(FAST_ID, OTHER_ID)
    assert asked == [(FAST_ID,)]
    assert (earned - without.points, without.pending_points) == (FAST.points / 2, FAST.points)
    asked, again = bench.grade(FAST_ID, OTHER_ID, accept_unmeasured=True)
    assert asked == [(FAST_ID,)]
    assert again.exercises == report.exercises


@pytest.mark.parametrize("changes", [{"clock": None}, {"only": OTHER_ID}])
def test_a_run_that_does_not_time_the_exercise_leaves_them(bench, changes):
    bench.found = on_an_unmeasured_card(verdict(share=0.5))
    _, report = bench.grade(FAST_ID, OTHER_ID, accept_unmeasured=True)
    only = [changes.pop("only")] if "only" in changes else [FAST_ID, OTHER_ID]
    assert bench.grade(*only, **changes) == ([], report)


def test_a_cheat_on_an_unmeasured_card_gets_no_second_try_by_the_option(bench):
    bench.found = on_an_unmeasured_card(verdict(TimingOutcome.INTEGRITY, share=0.0))
    _, report = bench.grade(FAST_ID, accept_unmeasured=True)
    assert bench.grade(FAST_ID) == ([], report)
