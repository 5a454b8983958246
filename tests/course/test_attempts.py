"""Which of a student's attempts counts, and when one without a time is taken to have been handed in."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from grader.checks.verdicts import environment
from grader.commands import gradebook as commands
from grader.commands.appeals import _recorded
from grader.course.grades import final
from grader.course.grading import _made_already, course_here, seed_of
from grader.course.ledger import (
    Because,
    Override,
    append_override,
    attempts,
    counting,
    gradings,
    read_grading,
    record,
)
from grader.course.regrading import Regraded
from grader.course.settings import Course, Settings
from grader.exports.roster import Entry
from grader.kit import find_kit
from grader.report import Outcome, SubmissionInfo, write_atomically
from tests.exports.sample_reports import check, exercise, report

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
ID = "memory.parameter_count"


def day(number: float) -> datetime:
    """So many days after the due date."""
    return DUE + timedelta(days=number)


@pytest.fixture
def course(tmp_path):
    """Makes a course in which lateness costs a tenth a day, and a half at most."""

    def made(which: str, **late) -> Course:
        settings = Settings.model_validate(
            {
                "attempts": which,
                "late": {"per_day": 0.1, "at_most": 0.5, **late},
                "assignments": {"memory": {"due": DUE, "points": {"parameter_count": 100}}},
            }
        )
        return Course(tmp_path, settings, find_kit())

    return made


def enter(
    course: Course,
    points: float,
    at: datetime | None,
    graded: datetime,
    sha: str = "",
    because: Because = "handed in",
    started: str = "",
) -> None:
    """An attempt that earned a share of 15 points, of which the course makes a hundred."""
    one = report("ada", exercise(ID, 15 * points / 100, 15, check())).model_copy(
        update={
            "submission": SubmissionInfo(id="ada", sha256=sha or f"{points}{at}{graded}"),
            "started_at": started,
        }
    )
    grading = record(course, "memory", one, "files", at, None, because)
    attempt = grading.attempt.model_copy(update={"graded_at": graded})
    write_atomically(grading.folder / "attempt.json", attempt.model_dump_json())
    assert read_grading(grading.folder).attempt.graded_at == graded


def grade(course: Course) -> tuple[int, float]:
    """The number of the attempt that counts, and what the student has of it."""
    found = counting(course, "memory", "ada")
    return found.attempt.number, round(final(course, found).points, 2)


def test_without_any_time_nobody_is_late_and_the_best_counts(course):
    best = course("best")
    enter(best, 90, None, day(30))
    enter(best, 80, None, day(40))
    assert grade(best) == (1, 90)
    assert grade(course("last")) == (2, 80)


def test_an_older_attempt_without_a_time_is_as_late_as_the_next_that_has_one(course):
    best = course("best")
    enter(best, 90, None, day(30))
    enter(best, 92, day(1.5), day(31))
    assert grade(best) == (2, 73.6)  # it was 90 without penalty against 73.6
    enter(best, 96, day(2.5), day(32))  # three days: 67.2, so that the second stays the best
    assert grade(best) == (2, 73.6)


def test_it_keeps_its_points_less_the_same_penalty_where_it_is_better(course):
    best = course("best")
    enter(best, 90, None, day(30))
    enter(best, 50, day(1.5), day(31))
    assert grade(best) == (1, 72)
    found = counting(best, "memory", "ada")
    assert any("no time came with it" in note for note in final(best, found).submission.notes)


def test_what_was_graded_before_the_due_date_was_in_time_whatever_came_later(course):
    best = course("best")
    enter(best, 90, None, day(-1))
    enter(best, 95, day(1.5), day(31))
    assert grade(best) == (1, 90)


def test_a_later_attempt_without_a_time_is_as_late_as_the_one_before_it(course):
    best = course("best")
    enter(best, 50, day(0.5), day(1))
    enter(best, 90, None, day(30))
    assert grade(best) == (2, 81)
    assert grade(course("last")) == (2, 81)


def test_an_older_attempt_without_a_time_is_not_the_last(course):
    last = course("last")
    enter(last, 90, None, day(30))
    enter(last, 50, day(0.5), day(31))
    assert grade(last) == (2, 45)


def test_a_regrade_is_the_same_attempt_and_moves_it_to_no_other_place(course):
    last = course("last")
    enter(last, 10, None, day(1), sha="first")
    enter(last, 20, None, day(2), sha="second")
    enter(last, 30, None, day(50), sha="first", because="regrade")
    assert [each.attempt.number for each in attempts(last, "memory", "ada")] == [3, 2]
    assert grade(last) == (2, 20)


def test_attempts_are_compared_by_the_course_s_points_and_by_what_was_decided_by_hand(course):
    best = course("best", per_day=0)
    for points, other, sha in ((40, 10, "a"), (50, 5, "b")):
        both = report(
            "ada",
            exercise(ID, 15 * points / 100, 15, check()),
            exercise("memory.kv_cache_bytes", other, 10, check()),
        ).model_copy(update={"submission": SubmissionInfo(id="ada", sha256=sha)})
        record(best, "memory", both, "files", None, None)
    # In the kit's points the first is better, 16 to 12.5; in this course's the second, 55 to 50.
    assert grade(best) == (2, 55)
    append_override(best, Override(student="ada", exercise=ID, points=60, reason="r", by="b", at=DUE))
    assert grade(best) == (1, 70)


def enter_open(course: Course, points: float, pending: float, sha: str, at: datetime | None = None) -> None:
    """An attempt of which a share is pending."""
    one = exercise(
        ID, 15 * points / 100, 15, check(), outcome=Outcome.NEEDS_GPU, pending_points=15 * pending / 100
    )
    made = report("ada", one).model_copy(update={"submission": SubmissionInfo(id="ada", sha256=sha)})
    record(course, "memory", made, "files", at, None)


def best_report(course: Course) -> tuple[float, float, tuple[str, ...]]:
    """Points, pending points and notes of what counts."""
    made = final(course, counting(course, "memory", "ada"))
    return round(made.points, 4), round(made.pending_points, 4), made.submission.notes


def only_this_exercise(course: Course) -> Course:
    left = [each.id for each in course.kit.available()["memory"].exercises if each.id != "parameter_count"]
    own = course.of("memory").model_copy(update={"leave_out": tuple(left)})
    settings = course.settings.model_copy(update={"assignments": {"memory": own}})
    return Course(course.root, settings, course.kit)


def test_the_best_is_not_final_where_another_s_pending_points_could_beat_it(course):
    best = only_this_exercise(course("best"))
    enter(best, 20, None, day(30), sha="a")
    enter_open(best, 5, 90, "b")
    assert grade(best)[0] == 1
    assert best_report(best) == (
        20,
        75,
        ("memory: attempt 2 has points pending and may yet count, with 95 at most",),
    )
    assert final(best, counting(best, "memory", "ada")).provisional


def test_it_is_final_where_they_could_not(course):
    best = only_this_exercise(course("best"))
    enter(best, 60, None, day(30), sha="a")
    enter_open(best, 0, 60, "b")
    assert best_report(best) == (60, 0, ())


def test_what_another_could_gain_is_counted_after_both_penalties_and_beside_the_best_s_own_pending(course):
    best = only_this_exercise(course("best"))
    enter_open(best, 40, 10, "a", day(-1))
    enter_open(best, 0, 100, "b", day(1.5))  # 80 at most
    points, pending, notes = best_report(best)
    assert (points, pending) == (40, 40)
    assert notes == ("memory: attempt 2 has points pending and may yet count, with 80 at most",)


def test_points_given_by_hand_leave_nothing_open(course):
    best = only_this_exercise(course("best"))
    enter(best, 20, None, day(30), sha="a")
    enter_open(best, 5, 90, "b")
    append_override(best, Override(student="ada", exercise=ID, points=60, reason="r", by="b", at=DUE))
    assert best_report(best)[:2] == (60, 0)


def enter_ungraded(course: Course, at: datetime | None) -> None:
    made = report("ada", error="larger than 5 MiB").model_copy(
        update={"submission": SubmissionInfo(id="ada")}
    )
    record(course, "memory", made, "files", at, None)


def test_an_attempt_that_nobody_could_grade_is_named_and_may_be_better(course):
    best = only_this_exercise(course("best"))
    enter_ungraded(best, None)
    enter(best, 20, None, day(30), sha="a")
    points, pending, notes = best_report(best)
    assert (points, pending) == (20, 80)
    assert notes == (
        "memory: attempt 1 could not be graded (larger than 5 MiB) and may yet count, with 100 at most",
    )
    enter(best, 100, None, day(31), sha="b")
    assert best_report(best) == (100, 0, ("memory: attempt 1 could not be graded (larger than 5 MiB)",))


def test_what_was_graded_in_the_end_is_no_attempt_that_nobody_could_grade(course):
    best = only_this_exercise(course("best"))
    enter_ungraded(best, day(-1))
    enter(best, 20, day(-1), day(30), sha="a")
    assert best_report(best) == (20, 0, ())


def test_files_that_come_again_after_others_are_the_last_although_they_were_graded_before(course):
    last = course("last")
    enter(last, 50, None, day(1), sha="a")
    enter(last, 10, None, day(2), sha="b")
    enter(last, 50, None, day(3), sha="a")
    assert grade(last) == (3, 50)
    enter(last, 50, None, day(4), sha="a")  # it is the last already
    assert len(gradings(last, "memory", "ada")) == 3


def test_a_regrade_after_it_leaves_the_order_of_the_hand_ins(course):
    last = course("last")
    for points, number, sha in ((50, 1, "a"), (10, 2, "b"), (50, 3, "a")):
        enter(last, points, None, day(number), sha=sha)
    enter(last, 20, None, day(4), sha="b", because="regrade")
    assert grade(last) == (3, 50)
    enter(last, 60, None, day(5), sha="a", because="regrade")
    assert grade(last) == (5, 60)


def test_files_that_come_again_with_a_time_of_their_own_are_no_new_attempt(course):
    last = course("last")
    for points, at, sha in ((50, day(-3), "a"), (10, day(-2), "b"), (50, day(-3), "a")):
        enter(last, points, at, day(1), sha=sha)
    assert grade(last) == (2, 10)
    assert len(gradings(last, "memory", "ada")) == 2


def test_where_the_best_counts_coming_again_makes_no_attempt_later(course):
    best = course("best")
    enter(best, 90, None, day(-2), sha="a")
    enter(best, 10, day(0.5), day(1), sha="b")
    enter(best, 90, None, day(3), sha="a")
    assert grade(best) == (3, 90)


def test_a_report_that_the_ledger_has_is_no_attempt(course):
    last = course("last")
    enter(last, 50, day(-3), day(1), sha="a", started="run 1")
    enter(last, 10, None, day(2), sha="b", started="run 2")
    enter(last, 20, None, day(3), sha="c", started="run 3")
    for points, sha, run in ((50, "a", 1), (50, "a", 4), (10, "b", 2), (20, "c", 5)):
        known = report("ada", exercise(ID, 15 * points / 100, 15, check())).model_copy(
            update={"submission": SubmissionInfo(id="ada", sha256=sha), "started_at": f"run {run}"}
        )
        record(last, "memory", known, "files", None, None, "report")
    assert grade(last)[1] == 20
    assert len(gradings(last, "memory", "ada")) == 3
    enter(last, 11, None, day(4), sha="b", because="report", started="run 6")  # it says something else
    assert len(gradings(last, "memory", "ada")) == 4


def test_a_notebook_that_comes_again_is_not_graded_again_and_is_the_last(course, tmp_path):
    last = only_this_exercise(course("last"))
    conditions = environment("sandbox", last.kit, seed_of(last))
    for sha, points in (("a", 10), ("b", 5)):
        files = tmp_path / sha
        files.mkdir()
        (files / "shapes.py").write_text(sha)
        made = report("ada", exercise(ID, points, 15, check()), environment=conditions)
        info = SubmissionInfo(id="ada", sha256=sha)
        record(last, "memory", made.model_copy(update={"submission": info}), "notebook", None, files)
    found = _made_already(last, "memory", "ada", tmp_path / "a", None)
    assert found is not None
    assert counting(last, "memory", "ada").folder == found.folder
    assert (found.attempt.number, found.attempt.handed_in_again) == (3, True)


def test_grader_regrade_enters_no_hand_in(course):
    last = course("last")
    for number, sha in ((1, "a"), (2, "b")):
        enter(last, 10 * number, None, day(number), sha=sha)
    first, _ = gradings(last, "memory", "ada")
    (first.folder / "files").mkdir()
    again = first.report.model_copy(update={"exercises": (exercise(ID, 15, 15, check()),)})
    made = _recorded(last, "memory", Regraded(first, again))
    assert (made.attempt.number, made.attempt.handed_in_again) == (3, False)
    assert grade(last) == (2, 20)


def test_reports_exported_onto_the_course_that_they_came_from_are_no_attempts(tmp_path, monkeypatch):
    (tmp_path / "course.yaml").write_text("assignments: {memory: }\n")
    made = report("ada", exercise(ID, 10, 15, check()))
    info = SubmissionInfo(id="ada", sha256="a", files=("memory/shapes.py",))
    made = made.model_copy(update={"submission": info, "started_at": "run 1"})
    here = course_here(tmp_path)
    record(here, "memory", made, "files", day(-1), None)
    monkeypatch.setattr(commands.gradebook, "opened", lambda course: contextlib.nullcontext())
    monkeypatch.setattr(commands.gradebook, "refuse_unreleased", lambda book, name: None)
    monkeypatch.setattr(commands.gradebook, "released_otherwise", lambda book, course, name: "")
    monkeypatch.setattr(commands, "source_cells", lambda book, name: {})
    monkeypatch.setattr(commands, "_enter", lambda *_: None)
    commands.enter_reports([Entry(made)], tmp_path)
    assert [each.attempt.submitted_at for each in gradings(here, "memory", "ada")] == [day(-1)]
