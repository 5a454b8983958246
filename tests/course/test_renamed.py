"""A notebook of another name that came without a time, and was then renamed: one attempt, and a graded one."""

from datetime import UTC, datetime

import nbformat
import pytest

from grader import cohort
from grader.commands.appeals import _recorded
from grader.course.grades import final
from grader.course.grading import course_here, grade_items, submitted
from grader.course.ledger import counting, gradings, record
from grader.course.regrading import Regraded
from grader.course.settings import Course
from grader.report import GradeReport, SubmissionInfo
from tests.exports.sample_reports import check, exercise, report

ID = "memory.parameter_count"


def notebook(source: str) -> str:
    cells = [nbformat.v4.new_code_cell(source, id="one")]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells))


@pytest.fixture
def course(tmp_path, monkeypatch) -> Course:
    """The best attempt counts, one with a time is there, and ghost has handed in homework.ipynb since."""
    (tmp_path / "seed").write_text("5a" * 32)
    others = [each.id for each in course_here(tmp_path).kit.available()["memory"].exercises]
    others.remove("parameter_count")
    (tmp_path / "course.yaml").write_text(
        "attempts: best\nisolation: process\nseed_file: seed\n"
        f"assignments: {{memory: {{leave_out: [{', '.join(others)}]}}}}\n"
    )
    (tmp_path / "submitted/ghost/memory").mkdir(parents=True)
    (tmp_path / "submitted/ghost/memory/homework.ipynb").write_text(notebook("x = 1"))

    def judged(order, staged, info, scratch, current, *rest):
        found = (exercise(ID, 12, 15, check()),)
        return GradeReport(kind="official", submission=info, environment=current, exercises=found)

    monkeypatch.setattr(cohort, "run_judge", judged)
    made = course_here(tmp_path)
    timed = report("ghost", exercise(ID, 3, 15, check()), submission=SubmissionInfo(id="ghost", sha256="x"))
    record(made, "memory", timed, "files", datetime(2026, 10, 1, 12, tzinfo=UTC), None)
    return made


def graded(course: Course) -> tuple[float, float, tuple[str, ...]]:
    """Grade what lies there, and give what `counts` does."""
    grade_items(course, "memory", submitted(course, "memory"))
    return counts(course)


def counts(course: Course) -> tuple[float, float, tuple[str, ...]]:
    """Points, pending points and notes of what counts."""
    made = final(course, counting(course, "memory", "ghost"))
    notes = tuple(each for each in made.submission.notes if "attempt" in each)
    return made.points, made.pending_points, notes


NAMED = (
    "memory: attempt 2 could not be graded "
    "(no memory.ipynb and no .py file, only homework.ipynb: rename the notebook)"
)


def test_once_renamed_it_is_no_attempt_that_nobody_could_grade(course):
    folder = course.root / "submitted/ghost/memory"
    assert graded(course) == (3, 12, (f"{NAMED} and may yet count, with 15 at most",))
    (folder / "homework.ipynb").rename(folder / "memory.ipynb")
    assert graded(course) == (12, 0, ())
    assert len(gradings(course, "memory", "ghost")) == 3


def test_nor_is_it_after_a_regrade(course):
    folder = course.root / "submitted/ghost/memory"
    graded(course)
    (folder / "homework.ipynb").rename(folder / "memory.ipynb")
    graded(course)
    last = gradings(course, "memory", "ghost")[-1]
    better = last.report.model_copy(update={"exercises": (exercise(ID, 13, 15, check()),)})
    _recorded(course, "memory", Regraded(last, better))
    assert counts(course) == (13, 0, ())


def test_another_notebook_in_its_place_leaves_it_named(course):
    folder = course.root / "submitted/ghost/memory"
    graded(course)
    (folder / "homework.ipynb").unlink()
    (folder / "memory.ipynb").write_text(notebook("x = 2"))
    assert graded(course) == (12, 3, (f"{NAMED} and may yet count, with 15 at most",))
