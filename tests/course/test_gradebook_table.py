"""What `grader grade --gradebook` says of points: those that count, and where they are not the released notebook's."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from grader.commands.gradebook import table_row
from grader.course.gradebook import released_otherwise
from grader.course.grading import Graded, Item
from grader.course.ledger import Override, record
from grader.course.settings import Course, Settings
from grader.kit import find_kit
from grader.notebooks.source import grade_id
from grader.report import SubmissionInfo
from tests.exports.sample_reports import check, exercise, report

KIT = find_kit()
REMEDY = ": run `grader notebooks .` and `nbgrader generate_assignment memory --force`"


def course(tmp_path, **of_memory) -> Course:
    return Course(tmp_path, Settings.model_validate({"assignments": {"memory": of_memory}}), KIT)


def book(points: dict[str, float]) -> SimpleNamespace:
    """A gradebook whose released notebook of memory has these points."""
    extra = {each.id for each in KIT.available()["memory"].exercises if each.extra_credit}
    cells = [
        SimpleNamespace(name=grade_id(f"memory.{each}"), max_score=0.0 if each in extra else worth)
        for each, worth in points.items()
    ]
    by_hand = SimpleNamespace(name="essay", max_score=7.0)
    return SimpleNamespace(find_notebook=lambda *_: SimpleNamespace(grade_cells=[*cells, by_hand]))


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ({}, ""),
        (
            {"points": {"parameter_count": 20}},
            "memory: course.yaml gives 105 points, the notebook that was released 100",
        ),
        (
            {"leave_out": ["parameter_count"]},
            "memory: course.yaml gives 85 points, the notebook that was released 100",
        ),
        (
            {"points": {"parameter_count": 10, "kv_cache_bytes": 15}},
            "memory: course.yaml gives 10 points for memory.parameter_count, the notebook that was released 15",
        ),
    ],
)
def test_points_changed_after_the_release_are_two_maxima_and_one_line_says_so(tmp_path, now, says):
    released = book(course(tmp_path).points("memory"))
    said = released_otherwise(released, course(tmp_path, **now), "memory")
    assert said == (says + REMEDY if says else "")


def late_course(tmp_path, attempts: str) -> Course:
    """Twenty points for what is worth fifteen in the kit, and a tenth off for each day begun."""
    others = [each.id for each in KIT.available()["memory"].exercises if each.id != "parameter_count"]
    memory = {"due": datetime(2026, 10, 1, 12, tzinfo=UTC), "points": {"parameter_count": 20}}
    settings = {
        "attempts": attempts,
        "late": {"per_day": 0.1},
        "assignments": {"memory": {**memory, "leave_out": others}},
    }
    return Course(tmp_path, Settings.model_validate(settings), KIT)


def attempt(course: Course, points: float, day: int, error: str = "") -> Graded:
    """Of ada's, handed in at noon of a day of October, graded with the kit's points."""
    at = datetime(2026, 10, day, 12, tzinfo=UTC)
    exercises = () if error else (exercise("memory.parameter_count", points, 15, check()),)
    one = report("ada", *exercises, error=error, submission=SubmissionInfo(id="ada", sha256=f"{day}"))
    grading = record(course, "memory", one, "files", at, None)
    return Graded(Item("ada", "files", course.root, at), grading, error)


def shown(course: Course, graded: Graded, decided: dict | None = None) -> tuple[float, str]:
    _, counts, note = table_row(course, graded, decided or {})
    return round(counts.points, 6), note


def test_the_table_has_the_course_s_points_after_the_late_penalty(tmp_path):
    course = late_course(tmp_path, "last")
    assert shown(course, attempt(course, 15, 1)) == (20, "")
    assert shown(course, attempt(course, 15, 3)) == (16, "20 % late")


def test_an_exercise_that_the_course_has_since_is_not_graded_yet_and_no_error(tmp_path):
    course = late_course(tmp_path, "last")
    graded = attempt(course, 15, 1)
    memory = course.settings.assignments["memory"]
    memory = memory.model_copy(update={"leave_out": memory.leave_out[1:]})
    settings = course.settings.model_copy(update={"assignments": {"memory": memory}})
    assert shown(Course(tmp_path, settings, KIT), graded) == (20, "not graded yet in 1")


def test_another_attempt_counts_and_the_table_has_its_points_and_says_so(tmp_path):
    course = late_course(tmp_path, "best")
    first, second = attempt(course, 15, 2), attempt(course, 3, 4)
    assert shown(course, second) == (18, "attempt 1 counts; 10 % late")
    assert shown(course, first) == (18, "10 % late")
    broken = attempt(course, 0, 5, error="not a notebook (it is empty)")
    assert shown(course, broken) == (18, "attempt 1 counts; 10 % late; not a notebook (it is empty)")


def test_points_set_by_hand_are_in_the_table_and_named(tmp_path):
    course = late_course(tmp_path, "last")
    at = datetime(2026, 10, 9, tzinfo=UTC)
    given = Override(student="ada", exercise="memory.parameter_count", points=12, reason="r", by="b", at=at)
    graded = attempt(course, 15, 1)
    assert shown(course, graded, {("ada", "memory.parameter_count"): given}) == (12, "set by hand")
    assert shown(course, graded, {("ben", "memory.parameter_count"): given}) == (20, "")


def test_what_cannot_be_graded_and_counts_has_no_points(tmp_path):
    course = late_course(tmp_path, "last")
    attempt(course, 15, 1)
    _, counts, note = table_row(course, attempt(course, 0, 2, error="not a notebook (x)"), {})
    assert counts.error
    assert note == "10 % late; not a notebook (x)"
