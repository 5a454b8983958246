"""Notebooks of results in `autograded/` and pages in `feedback/`, through nbgrader's own converters."""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from grader.course.gradebook import configuration
from grader.course.ledger import Grading, safe_student
from grader.course.settings import Course
from grader.notebooks.result import fill, from_files
from grader.printable import printable
from grader.refusal import BadInput

MAX_SHOWN_BYTES = 200_000


def side_by_side(course: Course, name: str, students: Sequence[str], jobs: int) -> list[str]:
    """Have nbgrader write `autograded/` and `feedback/` of notebooks whose grades are in the ledger.

    A process each core: nbgrader's converters take two seconds a student, and its gradebook bears several at once.

    Returns:
        A line for each student whose notebook nbgrader does not take; the grade stands.
    """
    shares = [share for index in range(jobs) if (share := students[index::jobs])]
    if len(shares) < 2:
        return [line for share in shares for line in _notebook_pages(course.root, name, share)]
    with ProcessPoolExecutor(len(shares), mp_context=get_context("spawn")) as pool:
        running = [pool.submit(_notebook_pages, course.root, name, share) for share in shares]
        return [line for each in running for line in each.result()]


def _notebook_pages(root: Path, name: str, students: Sequence[str]) -> list[str]:
    from grader.course.grading import course_here

    api = _api(course_here(root))
    problems = []
    for student in students:
        try:
            # Our preprocessors find the grade made.
            _done(api.autograde(name, student, force=True, create=True), f"{student}: autograde")
            _done(api.generate_feedback(name, student, force=True), f"{student}: feedback")
        except BadInput as problem:  # what one student sent stops nobody's page but their own
            problems.append(str(problem))
    return problems


def feedback(course: Course, name: str, students: Iterable[str]) -> None:
    """Have nbgrader write `feedback/<student>/<assignment>/<assignment>.html`."""
    api = _api(course)
    for student in students:
        _done(api.generate_feedback(name, student, force=True), f"{student}: feedback")


def write_files_page(course: Course, grading: Grading, cells: Mapping[str, Any]) -> None:
    """What `autograded/` has of a submission that is no notebook: its files and the results."""
    import nbformat

    attempt = grading.attempt
    name, student = attempt.assignment, safe_student(attempt.student)
    folder = course.root / "autograded" / student / name
    folder.mkdir(parents=True, exist_ok=True)
    files = grading.folder / "files" / name
    texts = {
        path.relative_to(files).as_posix(): path.read_bytes()[:MAX_SHOWN_BYTES].decode("utf-8", "replace")
        for path in sorted(files.rglob("*.py"))
    }
    nb = from_files(course, grading, texts, course.points(name), cells)
    _replace(folder / f"{name}.ipynb", str(nbformat.writes(nb)) + "\n")
    if attempt.submitted_at is not None:
        _replace(folder / "timestamp.txt", f"{attempt.submitted_at:%Y-%m-%d %H:%M:%S} UTC\n")


def shown_anew(course: Course, grading: Grading) -> bool:
    """Put what counts now into the notebook of results; False where there is none, or where it says so already."""
    import nbformat

    attempt = grading.attempt
    name = attempt.assignment
    path = course.root / "autograded" / safe_student(attempt.student) / name / f"{name}.ipynb"
    if not path.is_file():
        return False
    nb = nbformat.read(path, as_version=4)
    before = nbformat.writes(nb)
    fill(nb, course, grading)
    now = nbformat.writes(nb)
    if now == before:
        return False
    _replace(path, f"{now}\n")
    return True


def has_pages(course: Course, name: str, student: str) -> bool:
    """Whether there is a notebook of results and a page."""
    own = Path(safe_student(student)) / name
    return (course.root / "autograded" / own / f"{name}.ipynb").is_file() and (
        course.root / "feedback" / own / f"{name}.html"
    ).is_file()


def _replace(path: Path, text: str) -> None:
    """Also where nbgrader left a file that nobody may write."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
    os.replace(temporary, path)


def _api(course: Course) -> Any:
    import logging

    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config = configuration(course.root)
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    api.log.setLevel(logging.ERROR)
    return api


def _done(result: Mapping[str, Any], what: str) -> None:
    if not result["success"]:
        text = str(result.get("error") or result.get("log") or "").strip().splitlines()
        raise BadInput(f"{what}: nbgrader says: {printable((text or ['nothing'])[-1], 300)}")
