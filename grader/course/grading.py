"""Grades a course's submissions, notebooks and files alike, in the sandbox, and enters them into the ledger."""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from grader import cohort
from grader.checks.verdicts import environment
from grader.course.ledger import Grading, Source, gradings, record, safe_student
from grader.course.settings import Course, read_course, utc
from grader.graded_again import is_graded_again, reports_before
from grader.intake import SubmissionRefused, stage, submission_id
from grader.judges import Order
from grader.kit import Kit, find_kit
from grader.notebooks.apart import NotebookUnread, files_of_notebook
from grader.notebooks.checking import files_of, write_files
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.report import Environment, GradeReport, Outcome, SubmissionInfo
from grader.sandbox import available
from grader.seeds import SEED_FILE, SeedUnreadable, course_seed
from grader.summary import Row

REPORTS = "reports"
MAX_NOTEBOOK_BYTES = 32 << 20
MAX_HASHED_FILES = 20


@dataclass(frozen=True)
class Item:
    """One submission of one assignment: whose, what, and when it was handed in."""

    student: str
    source: Source
    path: Path
    """A notebook, or a folder or zip with the assignment's files."""
    submitted_at: datetime | None = None
    came_as: tuple[str, ...] = ()
    """As in the ledger's entry."""
    shown: str = ""
    """Where it lies, for a reader, when `path` is a copy of it: below the course's folder if it is there."""


@dataclass(frozen=True)
class Graded:
    """What became of an item: an entry of the ledger, or why there is none."""

    item: Item
    grading: Grading | None
    why_not: str = ""
    fresh: bool = True
    again: bool = False
    """Its files are as they were, and what grades them is not."""


def course_here(root: Path) -> Course:
    """The course in a folder, with the kit around it or the one that is installed.

    Raises:
        BadInput: there are no solutions, which grading needs.
    """
    course = read_course(root, find_kit(root))
    if not course.kit.has_solutions:
        raise BadInput(
            f"{course.kit.solutions}: no solutions here; say where they are in course.yaml, solutions: DIR"
        )
    return course


def submitted(course: Course, name: str) -> list[Item]:
    """What lies in `submitted/<student>/<assignment>/`: a notebook, else files, else whatever there is."""
    items = []
    for folder in sorted((course.root / "submitted").glob(f"*/{name}")):
        student = safe_student(folder.parent.name)
        at = submission_time(folder)
        notebook = folder / f"{name}.ipynb"
        if notebook.is_file():
            items.append(Item(student, "notebook", notebook, at))
        elif any(folder.rglob("*.py")):
            items.append(Item(student, "files", folder, at))
        elif _handed_in(folder):
            items.append(Item(student, "notebook", notebook, at))
    return items


def _handed_in(folder: Path) -> list[str]:
    """Files of a submission, as paths below its folder."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return [name for name in files if name != "timestamp.txt"]


def submission_time(folder: Path) -> datetime | None:
    """The time in `timestamp.txt`, as nbgrader keeps it.

    Raises:
        BadInput: it is no time.
    """
    path = folder / "timestamp.txt"
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    try:
        return utc(text) if text else None
    except ValueError:
        raise BadInput(f"{path}: {printable(text, 60)!r} is no time, write 2026-10-01 23:59:00 UTC") from None


def grade_notebook(course: Course, name: str, student: str, nb: Any) -> Grading:
    """Grade one notebook that nbgrader has sanitised."""
    at = submission_time(course.root / "submitted" / student / name)
    with tempfile.TemporaryDirectory(prefix="rooflab-course-") as folder:
        prepared = Path(folder) / safe_student(student)
        try:
            write_notebook_files(course, name, json.dumps(nb).encode(), prepared)
        except NotebookUnread as unread:
            raise BadInput(f"{student}: {printable(str(unread), 200)}") from None
        made = _made_already(course, name, student, prepared, at)
        if made is not None:
            return made
        came = Item(student, "notebook", course.root / "submitted" / student / name / f"{name}.ipynb")
        item = Item(student, "notebook", prepared, at, _came_as(came), _shown(course, came.path))
        (graded,) = grade_prepared(course, name, [item])
    if graded.grading is None:
        raise BadInput(f"{student}: {graded.why_not}")
    return graded.grading


def _made_already(
    course: Course, name: str, student: str, prepared: Path, at: datetime | None
) -> Grading | None:
    """The ledger's grading of these very files under the conditions of now."""
    texts = {path.relative_to(prepared): path.read_bytes() for path in prepared.rglob("*.py")}
    for grading in reversed(gradings(course, name, student)):
        files = grading.folder / "files"
        if grading.attempt.submitted_at != at or grading.report.environment != _environment(course):
            continue
        outcomes = {check.outcome for each in grading.report.exercises for check in each.checks}
        kept = {path.relative_to(files): path.read_bytes() for path in files.rglob("*.py")}
        graded = {each.id.partition(".")[2] for each in grading.report.exercises}
        if kept == texts and Outcome.GRADER_ERROR not in outcomes and graded >= set(course.points(name)):
            if grading.report.error:
                return None
            # It may be these files' second coming, after others.
            return record(course, name, grading.report, grading.attempt.source, at, files)
    return None


def _environment(course: Course) -> Environment:
    return _environment_of(course.kit, course.settings.isolation, seed_of(course))


@cache
def _environment_of(kit: Kit, isolation: str, seed: bytes) -> Environment:
    """Hashing the kit takes a fifth of a second, and it does not change while nbgrader goes through a course."""
    return environment(isolation, kit, seed)


def write_notebook_files(
    course: Course, name: str, notebook: bytes, into: Path, locked: Mapping[str, str] | None = None
) -> None:
    """The assignment's files out of a notebook's code cells; an empty one where no cell answers anything.

    Raises:
        NotebookUnread: see `files_of_notebook`, which has `locked` too.
    """
    spec = course.kit.available()[name]
    texts = files_of_notebook(notebook, files_of(spec), locked)
    write_files(into / name, texts or {spec.files[0]: ""})


def grade_items(
    course: Course,
    name: str,
    items: Sequence[Item],
    jobs: int = 1,
    on_row: Callable[[Row], None] | None = None,
    locked: Mapping[str, str] | None = None,
) -> list[Graded]:
    """Grade submissions of one assignment side by side, notebooks included; `locked` as in write_notebook_files."""
    lost, prepared = [], []
    with tempfile.TemporaryDirectory(prefix="rooflab-course-") as folder:
        for item in (replace(item, came_as=_came_as(item)) for item in items):
            if item.source == "notebook" and not item.path.exists():
                there = printable(", ".join(_handed_in(item.path.parent)[:3]), 120)
                why = f"no {item.path.name} and no .py file, only {there}: rename the notebook"
                lost.append(_not_gradable(course, name, item, why))
                continue
            place = Path(folder) / item.student
            try:
                if item.source == "notebook":
                    if item.path.stat().st_size > MAX_NOTEBOOK_BYTES:
                        raise NotebookUnread(f"not a notebook (larger than {MAX_NOTEBOOK_BYTES >> 20} MiB)")
                    write_notebook_files(course, name, item.path.read_bytes(), place, locked)
                else:
                    place = place.with_name(place.name + (".zip" if item.path.is_file() else ""))
                    place.symlink_to(item.path.resolve())
            except (OSError, NotebookUnread) as error:
                said = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else str(error)
                lost.append(_not_gradable(course, name, item, printable(said, 200)))
                continue
            prepared.append(replace(item, path=place, shown=_shown(course, item.path)))
        graded = grade_prepared(course, name, prepared, jobs, on_row)
    return sorted([*lost, *graded], key=lambda each: each.item.student)


def grade_prepared(
    course: Course,
    name: str,
    items: Sequence[Item],
    jobs: int = 1,
    on_row: Callable[[Row], None] | None = None,
) -> list[Graded]:
    """Grade folders and zips that are called as their students are, and enter them into the ledger."""
    if not items:
        return []
    kit = replace(course.kit, only=(name,))
    out = course.root / REPORTS / name
    order = Order(kit, out, course.settings.isolation, seed_of(course), jobs, exercises_of(course, name))
    _refuse_without_sandbox(course)
    paths = [item.path for item in items]
    with _one_at_a_time(order.out):
        before = reports_before(paths, out)
        try:
            rows = cohort.grade(order, paths, on_row or (lambda row: None))
        except cohort.CohortRefused as refusal:
            raise BadInput(str(refusal)) from None
    result = []
    for item, row in zip(items, rows, strict=True):
        if row.report is None:
            result.append(_refused(course, name, item, row))
            continue
        with tempfile.TemporaryDirectory(prefix="rooflab-ledger-") as folder:
            files = stage(item.path, kit.editable(), Path(folder)).root
            grading = record(
                course, name, row.report, item.source, item.submitted_at, files, came_as=item.came_as
            )
        result.append(Graded(item, grading, row.report.error, row.fresh, is_graded_again(row, before)))
    return result


def _refused(course: Course, name: str, item: Item, row: Row) -> Graded:
    if "interrupted" in row.note:
        return Graded(item, None, row.note)
    # The copy's path means nothing to a reader, and another one each time would make another attempt each time.
    why = row.note.replace(printable_path(item.path), item.shown) if item.shown else row.note
    return _not_gradable(course, name, item, why)


def _shown(course: Course, path: Path) -> str:
    return printable_path(path.relative_to(course.root) if path.is_relative_to(course.root) else path)


def _not_gradable(course: Course, name: str, item: Item, why: str) -> Graded:
    """A submission that nobody could grade is in the ledger too: its points are open, neither 0 nor an older grade."""
    report = GradeReport(
        kind="official",
        submission=SubmissionInfo(id=item.student, sha256=_sha256(item.path)),
        environment=_environment(course),
        error=why,
    )
    before = {each.folder for each in gradings(course, name, item.student)}
    grading = record(course, name, report, item.source, item.submitted_at, None, came_as=item.came_as)
    return Graded(item, grading, why, grading.folder not in before)


def _came_as(item: Item) -> tuple[str, ...]:
    """Hashes of a notebook, or of the files that lie in its place under other names."""
    if item.source != "notebook":
        return ()
    there = [item.path.name] if item.path.exists() else _handed_in(item.path.parent)[:MAX_HASHED_FILES]
    return tuple(found for each in there if (found := _sha256(item.path.parent / each)))


def _sha256(path: Path) -> str:
    """Of a file's beginning and size, to tell one attempt from the next; empty where there is none to read."""
    try:
        with path.open("rb") as stream:
            start = stream.read(MAX_NOTEBOOK_BYTES + 1)
            return hashlib.sha256(b"%d " % os.fstat(stream.fileno()).st_size + start).hexdigest()
    except OSError:
        return ""


def exercises_of(course: Course, name: str) -> tuple[str, ...]:
    """The exercises to be graded, by full name; empty for all, so that nothing is graded that is not in the course."""
    points = course.points(name)
    if len(points) == len(course.kit.available()[name].exercises):
        return ()
    return tuple(f"{name}.{exercise}" for exercise in points)


def seed_of(course: Course) -> bytes:
    """The secret seed of the course's hidden cases."""
    own = course.settings.seed_file
    try:
        return course_seed(course.root / own if own else course.kit.root / SEED_FILE)
    except SeedUnreadable as error:
        raise BadInput(str(error)) from None


def _refuse_without_sandbox(course: Course) -> None:
    if course.settings.isolation == "sandbox":
        state = available()
        if not state.ok:
            raise BadInput(
                f"no sandbox here: {state.reason}; {state.remedy}; or `isolation: process` in course.yaml"
            )


@contextlib.contextmanager
def _one_at_a_time(out: Path) -> Iterator[None]:
    """Wait for a grader of the same assignment: `nbgrader autograde` may be run for several students at once."""
    out.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(out.with_name(f".{out.name}.turn"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor) as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        try:
            yield
        finally:  # closing alone unlocks nothing while a process that another thread starts has a copy of it
            fcntl.flock(turn, fcntl.LOCK_UN)


def with_any_file(course: Course, name: str, paths: Sequence[Path]) -> list[Item]:
    """Of submissions that hold several assignments those that have a file of this one.

    Raises:
        BadInput: a name cannot be a student's.
    """
    items = []
    with tempfile.TemporaryDirectory(prefix="rooflab-looking-") as folder:
        for index, path in enumerate(paths):
            try:
                student = submission_id(path)
            except SubmissionRefused as refusal:
                raise BadInput(str(refusal)) from None
            try:
                staged = stage(path, {name: course.kit.editable()[name]}, Path(folder) / str(index))
            except SubmissionRefused:  # said by the command where no assignment finds anything in it
                continue
            if any(file.startswith(f"{name}/") for file in staged.files):
                items.append(Item(student, "files", path))
    return items
