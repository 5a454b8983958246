"""A student whose points lateness lowered reads how: on the page of feedback, and in nbgrader's notebook of results."""

from datetime import UTC, datetime, timedelta

import pytest

from grader.course.grades import final
from grader.course.ledger import Grading, counting, record
from grader.course.settings import Course, Settings
from grader.kit import find_kit
from grader.notebooks.result import from_files
from grader.notebooks.source import grade_id
from grader.report import SubmissionInfo
from tests.exports.sample_reports import check, exercise, report

ID = "memory.parameter_count"
DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
HOW = (
    "anded in 1 d 12 h late, 20 % taken off (10 % for each day begun, none within 15 min, 50 % at most): "
    "3 of 15 points lost"
)


@pytest.fixture
def course(tmp_path) -> Course:
    late = {"per_day": 0.1, "at_most": 0.5, "grace_minutes": 15}
    settings = {"attempts": "best", "late": late, "assignments": {"memory": {"due": DUE}}}
    return Course(tmp_path, Settings.model_validate(settings), find_kit())


def enter(course: Course, points: float, at: datetime | None, error: str = "") -> Grading:
    found = () if error else (exercise(ID, points, 15, check()),)
    info = SubmissionInfo(id="ada", sha256=f"{points}{at}")
    return record(course, "memory", report("ada", *found, error=error, submission=info), "files", at, None)


def shown(course: Course, grading: Grading) -> str:
    """The cell under the exercise, as HTML."""
    (page,) = all_shown(course, grading, ID)
    return page


def all_shown(course: Course, grading: Grading, *exercises: str) -> list[str]:
    """The cells under several exercises."""
    cells = {grade_id(each): ("check", "0") for each in exercises}
    nb = from_files(course, grading, {}, course.points("memory"), cells)
    return [each.outputs[0].data["text/html"] for each in nb.cells if each.get("outputs")]


def test_both_pages_say_how_late_the_rule_and_the_points(course):
    grading = enter(course, 15, DUE + timedelta(days=1.5))
    (note,) = [each for each in final(course, grading).submission.notes if "handed in" in each]
    assert note == f"memory: h{HOW}"
    page = shown(course, grading)
    assert "15 / 15" in page
    assert f"The whole assignment: h{HOW}; the points beside the exercises are those before it." in page


def test_the_lateness_of_the_whole_assignment_is_said_once_and_called_so(course):
    grading = enter(course, 15, DUE + timedelta(days=1.5))
    pages = all_shown(course, grading, ID, "memory.kv_cache_bytes", "memory.checkpoint")
    assert [page.count("points lost") for page in pages] == [1, 0, 0]
    assert "The whole assignment: handed in" in pages[0]


def test_a_notebook_of_an_attempt_that_does_not_count_has_the_lateness_of_the_one_that_does(course):
    enter(course, 15, DUE + timedelta(days=1.5))
    last = enter(course, 1, DUE + timedelta(days=3.5))
    assert f"h{HOW}; the points" in shown(course, last)


def test_of_an_attempt_without_a_time_it_is_said_whose_it_is(course):
    enter(course, 1, DUE + timedelta(days=1.5))
    last = enter(course, 15, None)
    assert "points lost; no time came with it, and this is by the other attempts; the points" in shown(
        course, counting(course, "memory", "ada") or last
    )


def test_without_points_there_is_none_to_lose(course):
    note = final(course, enter(course, 0, DUE + timedelta(hours=2))).submission.notes[-1]
    assert note.endswith(
        "handed in 2 h late, 10 % taken off (10 % for each day begun, none within 15 min, 50 % at most)"
    )


@pytest.mark.parametrize(
    ("late", "error"),
    [(timedelta(minutes=-1), ""), (timedelta(minutes=14), ""), (timedelta(days=2), "no zip")],
)
def test_who_lost_nothing_reads_nothing_of_it(course, late, error):
    assert "late" not in shown(course, enter(course, 15, DUE + late, error))
