"""A regrade: what it takes for stale, whom it names, and that what cannot be graded again stops nobody else."""

from pathlib import Path

import pytest

from grader.checks.verdicts import environment
from grader.clock.verdict import TimingOutcome, TimingVerdict
from grader.commands import appeals
from grader.course import regrading, replaying
from grader.course.grades import final
from grader.course.grading import course_here, seed_of
from grader.course.ledger import Grading, Override, append_override, record
from grader.course.regrading import regrade_of
from grader.course.replaying import again, differences
from grader.course.settings import Course
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.report import ExerciseResult, GradeReport, Outcome, SubmissionInfo
from grader.summary import Row
from tests.exports.sample_reports import check, exercise, report

ID, OTHER = "memory.parameter_count", "memory.kv_cache_bytes"


def course_in(root: Path, attempts: str = "last") -> Course:
    """A course of two exercises."""
    every = [each.id for each in course_here(root).kit.available()["memory"].exercises]
    left = ", ".join(each for each in every if f"memory.{each}" not in (ID, OTHER))
    (root / "course.yaml").write_text(
        f"attempts: {attempts}\nassignments: {{memory: {{leave_out: [{left}]}}}}\n"
    )
    return course_here(root)


@pytest.fixture
def course(tmp_path) -> Course:
    return course_in(tmp_path)


def passed(name: str = ID) -> ExerciseResult:
    return exercise(name, 5, 5, check())


def enter(
    course: Course, student: str, *exercises: ExerciseResult, stale: bool = False, sha: str = "a"
) -> Grading:
    """An entry with files, graded under the conditions of now unless it is stale."""
    now = environment(course.settings.isolation, course.kit, seed_of(course))
    made = report(
        student, *exercises, environment=now.model_copy(update={"seed_id": "old"}) if stale else now
    ).model_copy(update={"submission": SubmissionInfo(id=student, sha256=sha)})
    grading = record(course, "memory", made, "files", None, None)
    (grading.folder / "files").mkdir()
    return grading


def grades(monkeypatch, *exercises: ExerciseResult) -> list[str]:
    """Grading gives this from now on, and says of whom it was asked."""
    asked: list[str] = []

    def graded(course: Course, name: str, entries: list[Grading], jobs: int) -> list[GradeReport]:
        asked.extend(each.attempt.student for each in entries)
        now = environment(course.settings.isolation, course.kit, seed_of(course))
        return [
            each.report.model_copy(update={"exercises": exercises, "environment": now}) for each in entries
        ]

    monkeypatch.setattr(regrading, "again", graded)
    return asked


def test_pending_points_that_are_decided_are_a_difference():
    waits = exercise(ID, 1, 5, check(), outcome=Outcome.NEEDS_GPU, pending_points=4)
    assert differences(report("ada", waits), report("ada", waits)) == []
    lost = waits.model_copy(update={"pending_points": 0.0})
    assert differences(report("ada", waits), report("ada", lost)) == [
        f"{ID}: 1 and 4 pending (needs_gpu) -> 1 (needs_gpu)"
    ]


def test_a_student_of_whom_only_pending_points_move_is_named(course, monkeypatch, capsys):
    waits = exercise(ID, 1, 5, check(), outcome=Outcome.NEEDS_GPU, pending_points=4)
    enter(course, "ada", waits, passed(OTHER), stale=True)
    grades(monkeypatch, waits.model_copy(update={"pending_points": 0.0}), passed(OTHER))
    assert appeals.regrade(course.root, write=False, jobs=1) == 0
    said = capsys.readouterr().out
    assert "ada: memory 0 points, -" in said
    assert "1 student would move" in said


def test_what_cannot_be_graded_again_stops_nobody_else(course, monkeypatch, capsys):
    for student in ("ada", "bea", "cy"):
        enter(course, student, exercise(ID, 0, 5, check(Outcome.FAILED)), passed(OTHER), stale=True)

    def graded(order, paths):
        rows = []
        for path in paths:
            made = report(path.name, passed(), passed(OTHER))
            rows.append(
                Row(path.name, None, "bea: holds no file of the kit")
                if path.name == "bea"
                else Row(path.name, made, "")
            )
        return rows

    monkeypatch.setattr(replaying.cohort, "grade", graded)
    assert appeals.regrade(course.root, write=False, jobs=1) == SOME_NOT_GRADED
    said = capsys.readouterr()
    assert said.err == "not graded again: bea: memory, attempt 1: holds no file of the kit\n"
    assert "2 attempts graded again; 2 students would move" in said.out


def test_an_interruption_stops_the_regrade(course, monkeypatch):
    entry = enter(course, "ada", passed(), passed(OTHER), stale=True)
    interrupted = Row("ada", None, "ada: interrupted")
    monkeypatch.setattr(replaying.cohort, "grade", lambda order, paths: [interrupted])
    with pytest.raises(BadInput, match="interrupted"):
        again(course, "memory", [entry])


def test_the_best_of_which_another_attempt_is_decided_is_named_although_it_stays_the_best(
    tmp_path, monkeypatch
):
    best = course_in(tmp_path, "best")
    waits = exercise(ID, 0, 5, check(), outcome=Outcome.NEEDS_GPU, pending_points=5)
    enter(best, "ada", exercise(ID, 2, 5, check(Outcome.FAILED)), passed(OTHER), sha="a")
    enter(best, "ada", waits, passed(OTHER), sha="b", stale=True)
    failed = exercise(ID, 0, 5, check(Outcome.FAILED), outcome=Outcome.FAILED)
    grades(monkeypatch, failed, passed(OTHER))
    (move,) = regrade_of(best, "memory", 1).moves
    assert move.moved
    assert move.lines == ("what another attempt could still make of the grade has changed",)


def test_nothing_is_stale_that_was_graded_wholly_under_the_conditions_of_now(course, monkeypatch):
    enter(course, "ada", passed(), passed(OTHER))
    asked = grades(monkeypatch, passed(), passed(OTHER))
    assert regrade_of(course, "memory", 1).regraded == ()
    assert asked == []


def test_a_check_that_the_grader_could_not_decide_is_stale(course, monkeypatch):
    broken = check(Outcome.GRADER_ERROR)
    enter(
        course,
        "ada",
        exercise(ID, 0, 5, broken, outcome=Outcome.GRADER_ERROR, pending_points=5),
        passed(OTHER),
    )
    enter(course, "bea", passed(), passed(OTHER))
    asked = grades(monkeypatch, passed(), passed(OTHER))
    (move,) = regrade_of(course, "memory", 1).moves
    assert asked == ["ada"]
    assert (move.student, move.moved) == ("ada", True)


def test_a_timed_check_without_a_verdict_has_attempts_of_its_own_and_is_not_stale(course, monkeypatch):
    timing = TimingVerdict(
        outcome=TimingOutcome.GRADER_ERROR,
        interval={"low": 0, "high": 1},
        reason="no quiet moment",
        attempt=3,
        next="staff",
        device_s=1.0,
        alpha=0.01,
    )
    one = check(Outcome.GRADER_ERROR, timing=timing)
    enter(
        course, "ada", exercise(ID, 0, 5, one, outcome=Outcome.GRADER_ERROR, pending_points=5), passed(OTHER)
    )
    asked = grades(monkeypatch, passed(), passed(OTHER))
    assert regrade_of(course, "memory", 1).regraded == ()
    assert asked == []


def test_an_exercise_that_the_course_has_since_is_pending_until_a_regrade_grades_it(course, monkeypatch):
    entry = enter(course, "ada", passed())
    worth = course.points("memory")["kv_cache_bytes"]
    made = final(course, entry)
    assert [each.id for each in made.exercises] == [
        f"memory.{each.id}"
        for each in course.kit.available()["memory"].exercises
        if f"memory.{each.id}" in (ID, OTHER)
    ]
    assert (made.pending_points, made.provisional) == (worth, True)
    assert made.submission.notes == (f"{OTHER}: not graded yet",)
    grades(monkeypatch, passed(), passed(OTHER))
    (move,) = regrade_of(course, "memory", 1).moves
    assert move.lines == (f"{OTHER}: new, {worth:g} of {worth:g}",)
    assert (move.points, move.pending) == (worth, -worth)


def test_points_given_by_hand_settle_an_exercise_that_was_not_graded(course):
    entry = enter(course, "ada", passed())
    given = Override(
        student="ada", exercise=OTHER, points=2, reason="on paper", by="TA", at=entry.attempt.graded_at
    )
    append_override(course, given)
    made = final(course, entry)
    assert (made.pending_points, made.points) == (0, course.points("memory")["parameter_count"] + 2)
    assert made.submission.notes == (f"{OTHER}: 2 points set by hand (on paper)",)
