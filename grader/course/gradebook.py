"""A course's nbgrader gradebook: its configuration read strictly, and grades written into it.

`auto_score` is ours; a `manual_score`, extra credit and comments that an instructor gave stay. A point that is pending
and a submission that could not be graded leave `needs_manual_grade`, never a silent 0.
"""

import contextlib
import math
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grader.course.grades import final
from grader.course.ledger import Grading, Override, overrides
from grader.course.settings import Course
from grader.exports.told import wholly_pending
from grader.notebooks.source import exercise_of
from grader.printable import printable
from grader.refusal import BadInput

CONFIG = "nbgrader_config.py"


def configuration(root: Path) -> Any:
    """The course's nbgrader configuration; nbgrader itself goes on with defaults where the file is broken.

    Raises:
        BadInput: the file is missing or does not run, or nbgrader is not installed.
    """
    try:
        import nbgrader  # noqa: F401 - says that the `instructor` extra is here
        from traitlets.config.loader import PyFileConfigLoader
    except ModuleNotFoundError as error:
        raise BadInput(f"a gradebook needs {error.name}: pip install -e '.[instructor]'") from None
    path = root / CONFIG
    if not path.is_file():
        raise BadInput(f"{printable(str(root))}: no {CONFIG} there, `grader notebooks` makes a course")
    try:
        config = PyFileConfigLoader(CONFIG, path=str(root.resolve())).load_config()
    except Exception as error:  # the file is Python and may raise anything
        raise BadInput(f"{path}: {type(error).__name__}: {printable(str(error), 200)}") from None
    config.CourseDirectory.root = str(root.resolve())
    return config


@contextlib.contextmanager
def opened(course: Course) -> Iterator[Any]:
    """The gradebook, for reading and writing."""
    from nbgrader.api import Gradebook
    from nbgrader.coursedir import CourseDirectory
    from sqlalchemy.exc import SAWarning

    directory = CourseDirectory(config=configuration(course.root))
    # nbgrader 0.9.6 on SQLAlchemy 2 warns of its own queries, a dozen lines each time a student's row is made.
    warnings.filterwarnings("ignore", category=SAWarning, message="Object of type <Submitted")
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        yield gradebook


def refuse_unreleased(gradebook: Any, name: str) -> None:
    """Refuse an assignment whose cells the gradebook does not know yet.

    Raises:
        BadInput: `nbgrader generate_assignment` has not been run.
    """
    from nbgrader.api import MissingEntry

    try:
        gradebook.find_notebook(name, name)
    except MissingEntry:
        raise BadInput(
            f"{name}: not in the gradebook yet, run `nbgrader generate_assignment {name}` there first"
        ) from None


def released_otherwise(gradebook: Any, course: Course, name: str) -> str:
    """How the points of the released notebook differ from course.yaml's, and what to do; empty where they do not.

    Extra credit is worth 0 in a notebook, and not compared.
    """
    extra = {each.id for each in course.kit.available()[name].exercises if each.extra_credit}
    ours = {f"{name}.{each}": worth for each, worth in course.points(name).items() if each not in extra}
    released = {
        exercise: cell.max_score
        for cell in gradebook.find_notebook(name, name).grade_cells
        if (exercise := exercise_of(cell.name)) is not None and exercise.partition(".")[2] not in extra
    }
    apart = [
        each for each in {**ours, **released} if not math.isclose(ours.get(each, 0), released.get(each, 0))
    ]
    if not apart:
        return ""
    now, then, of = sum(ours.values()), sum(released.values()), ""
    if math.isclose(now, then):
        now, then, of = ours.get(apart[0], 0), released.get(apart[0], 0), f" for {apart[0]}"
    return (
        f"{name}: course.yaml gives {now:g} points{of}, the notebook that was released {then:g}: "
        f"run `grader notebooks .` and `nbgrader generate_assignment {name} --force`"
    )


def save(
    gradebook: Any, course: Course, grading: Grading, decided: dict[tuple[str, str], Override] | None = None
) -> None:
    """Write one student's grades of one assignment: the grader's as `auto_score`, overrides as `manual_score`."""
    attempt = grading.attempt
    name, student = attempt.assignment, attempt.student
    decided = overrides(course) if decided is None else decided
    report = final(course, grading, {}, late=False)
    gradebook.update_or_create_student(student)
    _times(gradebook, course, name, student, attempt.submitted_at)
    by_id = {each.id: each for each in report.exercises}
    for cell in gradebook.find_notebook(name, name).grade_cells:
        exercise = exercise_of(cell.name)
        if exercise is None:  # a cell that the instructor added, to be graded by hand
            continue
        grade = gradebook.find_grade(cell.name, name, name, student)
        before = grade.auto_score
        result = None if report.error else by_id.get(exercise)
        given = decided.get((student, exercise))
        graded = result is not None and result.outcome != "grader_error" and not wholly_pending(result)
        grade.auto_score = round(result.points, 6) if result is not None and graded else None
        if given is not None:
            grade.manual_score = given.points
        review = grade.manual_score is not None and given is None and grade.auto_score != before
        is_open = result is None or not graded or result.pending_points > 0
        grade.needs_manual_grade = review or (is_open and given is None)
    gradebook.db.commit()
    _penalty(gradebook, course, grading)


def take_back(gradebook: Any, name: str, decision: Override) -> None:
    """Remove the manual score that an override was saved as; another one is the instructor's own, and stays."""
    for cell in gradebook.find_notebook(name, name).grade_cells:
        if exercise_of(cell.name) == decision.exercise:
            grade = gradebook.find_grade(cell.name, name, name, decision.student)
            if grade.manual_score == decision.points:
                grade.manual_score = None
    gradebook.db.commit()


def _times(gradebook: Any, course: Course, name: str, student: str, submitted_at: datetime | None) -> None:
    """Due date, extension and time of the submission, as nbgrader keeps them: UTC without a zone."""
    due, own = course.of(name).due, course.due(name, student)
    if due is not None:
        gradebook.update_or_create_assignment(name, duedate=_naive(due))
    extension = own - due if own is not None and due is not None and own != due else None
    fields: dict[str, object] = {"extension": extension or timedelta(0)} if extension or due else {}
    if submitted_at is not None:
        fields["timestamp"] = _naive(submitted_at)
    gradebook.update_or_create_submission(name, student, **fields)


def _penalty(gradebook: Any, course: Course, grading: Grading) -> None:
    """The late penalty of the whole score, manual points and extra credit included."""
    attempt = grading.attempt
    late_s = course.late_s(attempt.assignment, attempt.student, grading.handed_in)
    share = course.settings.late.share(late_s)
    notebook = gradebook.find_submission_notebook(attempt.assignment, attempt.assignment, attempt.student)
    gradebook.db.refresh(notebook)
    notebook.late_submission_penalty = round(share * notebook.score, 6) if share else None
    gradebook.db.commit()


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)
