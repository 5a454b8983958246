"""What a cohort asks a judge to time again, and what it leaves as it is."""

from dataclasses import dataclass, field

import pytest

from grader import cohort
from grader.checks.scoring import score
from grader.clock.verdict import TimingVerdict
from grader.judges import Order
from grader.kit import find_kit
from grader.report import CheckResult, GradeReport, Outcome
from specs.assignment import assignment
from tests.clock.test_attempts import FAST_ID, UNDECIDED

OTHER_ID = "memory.state_bytes_per_parameter"


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
