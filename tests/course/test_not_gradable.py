"""A hand-in that nobody can grade: open in the ledger, named by every export, and never replaced by an older grade."""

import csv
import io
from datetime import UTC, datetime

import pytest

from grader.commands import export
from grader.course.grades import course_reports
from grader.course.grading import Graded, Item, grade_items, submitted
from grader.course.ledger import counting, gradings, record
from grader.course.settings import Course, read_course
from grader.exports.feedback import feedback_markdown
from grader.exports.roster import matched
from grader.kit import find_kit
from grader.report import SubmissionInfo
from tests.exports.sample_reports import check, exercise, report

AT = datetime(2026, 10, 1, 12, tzinfo=UTC)


@pytest.fixture
def course(tmp_path) -> Course:
    """With a seed of its own, and a broken notebook in it."""
    (tmp_path / "seed").write_text("5a" * 32)
    folder = tmp_path / "submitted" / "ghost" / "memory"
    folder.mkdir(parents=True)
    (folder / "memory.ipynb").write_text("{ this is no notebook")
    kit = find_kit()
    others = [each.id for each in kit.available()["profiling"].exercises if each.id != "classify_kernel"]
    assignments = f"assignments: {{memory: , profiling: {{leave_out: [{', '.join(others)}]}}}}\n"
    (tmp_path / "course.yaml").write_text(f"seed_file: seed\n{assignments}")
    return read_course(tmp_path, kit)


def grade(course: Course, at: datetime | None = None) -> Graded:
    path = course.root / "submitted" / "ghost" / "memory" / "memory.ipynb"
    (graded,) = grade_items(course, "memory", [Item("ghost", "notebook", path, at)])
    return graded


def earlier(course: Course, name: str = "memory", at: datetime | None = None) -> None:
    exercise_id = {"memory": "memory.parameter_count", "profiling": "profiling.classify_kernel"}[name]
    one = report(
        "ghost", exercise(exercise_id, 10, 10, check()), submission=SubmissionInfo(id="ghost", sha256="x")
    )
    record(course, name, one, "files", at, None)


def said(course: Course, capsys) -> tuple[list[dict[str, str]], str, int]:
    """Canvas's rows, stderr and the exit code."""
    code = export.run("canvas", [course.root], None, None)
    captured = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(captured.out))), captured.err, code


def test_a_broken_notebook_is_in_the_ledger_once_and_open(course):
    first, second = grade(course), grade(course)
    assert first.grading is not None
    assert first.grading.report.error.startswith("not a notebook (")
    assert (first.fresh, second.fresh) == (True, False)
    assert len(gradings(course, "memory", "ghost")) == 1
    (entry,) = matched(course_reports(course), None)
    assert entry.status == "ungraded"


@pytest.mark.parametrize(("before", "at"), [(None, None), (AT, AT.replace(day=2)), (AT, None)])
def test_where_the_last_attempt_counts_a_broken_one_does_and_no_older_grade(course, capsys, before, at):
    earlier(course, at=before)
    broken = grade(course, at)
    assert counting(course, "memory", "ghost").folder == broken.grading.folder
    _, err, code = said(course, capsys)
    assert (code, err.startswith("not graded: ghost: not a notebook (")) == (3, True)


def test_a_notebook_of_another_name_is_named_and_no_missing_submission(course):
    folder = course.root / "submitted" / "ghost" / "memory"
    (folder / "memory.ipynb").rename(folder / "homework (1).ipynb")
    (folder / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC")
    (course.root / "submitted" / "nobody" / "memory").mkdir(parents=True)
    (item,) = submitted(course, "memory")
    (graded,) = grade_items(course, "memory", [item])
    assert graded.why_not == "no memory.ipynb and no .py file, only homework (1).ipynb: rename the notebook"
    (entry,) = matched(course_reports(course), None)
    assert entry.status == "ungraded"
    (folder / "homework (1).ipynb").rename(folder / "memory.ipynb")
    grade(course, AT)
    assert counting(course, "memory", "ghost").report.error.startswith("not a notebook (")


def test_another_broken_notebook_is_another_attempt(course):
    grade(course)
    (course.root / "submitted" / "ghost" / "memory" / "memory.ipynb").write_text("{ nor is this")
    grade(course)
    assert len(gradings(course, "memory", "ghost")) == 2


def test_where_the_best_counts_an_older_grade_stays(course):
    earlier(course)
    best = Course(course.root, course.settings.model_copy(update={"attempts": "best"}), course.kit)
    grade(best)
    assert counting(best, "memory", "ghost").attempt.number == 1


def test_beside_a_graded_assignment_the_column_is_blank_and_stderr_says_which(course, capsys):
    earlier(course, "profiling")
    grade(course)
    rows, err, code = said(course, capsys)
    row = rows[-1]
    assert row["SIS Login ID"] == "ghost"
    assert row["Rooflab memory"] == ""
    assert row["Rooflab profiling"] == "10"
    assert code == 3
    assert err.startswith("not graded: ghost: memory: not a notebook (")


def test_a_folder_without_the_files_is_one_attempt_and_named_where_it_lies(course):
    folder = course.root / "submitted" / "frank" / "memory"
    folder.mkdir(parents=True)
    (folder / "frank.py").write_text("x = 1\n")
    item = Item("frank", "files", folder)
    first, second = (grade_items(course, "memory", [item])[0] for _ in range(2))
    assert "found in submitted/frank/memory: expected <assignment>/<file>" in first.why_not
    assert (first.fresh, second.fresh) == (True, False)
    assert len(gradings(course, "memory", "frank")) == 1


def test_a_student_reads_that_it_is_not_graded_and_of_no_grader_s_error(course):
    earlier(course, "profiling")
    grade(course)
    page = feedback_markdown(course_reports(course)[-1])
    assert "What was handed in cannot be graded" in page
    assert "not graded" in page
    assert "grader error" not in page
