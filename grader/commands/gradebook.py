"""`grader grade --gradebook`: a course's submissions, notebooks and files, graded side by side into its gradebook."""

import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from grader import cohort
from grader.commands.collect import folder_name
from grader.course import gradebook
from grader.course.extensions import for_nobody
from grader.course.grades import final
from grader.course.grading import Graded, Item, course_here, grade_items, submitted, with_any_file
from grader.course.ledger import Override, counting, overrides, record
from grader.course.settings import Course
from grader.exports.plain import score
from grader.exports.roster import Entry
from grader.graded_again import WHY_AGAIN
from grader.printable import printable
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.report import GradeReport
from grader.summary import note_on
from grader.table import print_cohort

Locked = dict[str, tuple[str, str | None]]


def run(directory: Path, submissions: Sequence[Path], jobs: int | None) -> int:
    """Grade what lies in `submitted/` and the submissions named; the exit code: 0 all graded, 3 some not."""
    course = course_here(directory)
    gradebook.configuration(course.root)
    for path in submissions:
        if not path.exists():
            raise BadInput(f"{printable(str(path))}: no such file or folder")
    results: list[Graded] = []
    found: set[Path] = set()
    for name in course.names:
        more = with_any_file(course, name, submissions)
        found |= {item.path for item in more}
        items = [*submitted(course, name), *more]
        if items:
            with gradebook.opened(course) as book:
                gradebook.refuse_unreleased(book, name)
                _say_released_otherwise(book, course, name)
                cells = source_cells(book, name)
            locked = {each: source for each, (source, _, is_locked) in cells.items() if is_locked}
            graded = grade_items(course, name, items, jobs or cohort.cores(), locked=locked)
            shown = {each: found[:2] for each, found in cells.items()}
            _enter(course, name, graded, shown, jobs or cohort.cores())
            results += graded
    for said in for_nobody(course):  # after grading: the ledger knows who was named here
        print(said, file=sys.stderr)
    if not results and not submissions:
        raise BadInput(_nothing_there(course))
    for path in submissions:
        if path not in found:
            print(
                f"not graded: {printable(str(path))}: no file of the course's assignments in it",
                file=sys.stderr,
            )
    return _conclude(course, results, len(found) < len(submissions))


def _nothing_there(course: Course) -> str:
    there = course.root / "submitted"
    state = "missing" if not there.is_dir() else "empty"
    if state == "empty" and any(there.iterdir()):
        state = f"without a submission of {' or '.join(course.names)}"
    return (
        f"{printable(str(there))}: {state}, so there is nothing to grade; `grader collect` fills it from a platform's "
        "download, as submitted/<student>/<assignment>/"
    )


def enter_reports(entries: Sequence[Entry], directory: Path | None) -> None:
    """Reports of `grader grade --out` into the gradebook of a course, the ledger first; what is there already stays.

    A student of the roster is called as `grader collect` calls them. Whom the roster lacks is left out, for a row of
    a gradebook stays. An assignment that a submission has no file of gets no row from it: it would be a 0 that nobody
    gave.
    """
    if directory is None:
        raise BadInput("format nbgrader writes into a course: name it with --out COURSE_DIR")
    course = course_here(directory)
    reports = [_as_collected(each) for each in entries if each.report is not None and each.listed]
    if not reports:
        _refuse_strangers(entries)
    tried = {file.partition("/")[0] for report in reports for file in report.submission.files}
    entered = 0
    for name in course.names:
        own = [report for report in reports if _is_of(report, name, tried)]
        if not own:
            continue
        with gradebook.opened(course) as book:
            gradebook.refuse_unreleased(book, name)
            _say_released_otherwise(book, course, name)
            cells = {each: found[:2] for each, found in source_cells(book, name).items()}
        graded = []
        for report in own:
            grading = record(course, name, report, "files", None, None, "report")
            graded.append(Graded(Item(grading.attempt.student, "files", directory), grading))
        _enter(course, name, graded, cells)
        print(f"{name}: {len(own)} student{'s' * (len(own) != 1)}")
        entered += len(own)
    if not entered:
        raise BadInput(
            f"{printable(str(directory))}: none of these reports is of an assignment of this course"
        )
    print(f"in {printable(str(directory))}/gradebook.db, pages in feedback/<student>/")


def _refuse_strangers(entries: Sequence[Entry]) -> None:
    strangers = [printable(each.report.submission.id, 60) for each in entries if each.report is not None]
    shown = ", ".join(strangers[:3]) + (f" and {len(strangers) - 3} more" if len(strangers) > 3 else "")
    raise BadInput(f"--roster has nobody of these reports: not on it are {shown}; nothing was entered")


def _say_released_otherwise(book: Any, course: Course, name: str) -> None:
    if said := gradebook.released_otherwise(book, course, name):
        print(said, file=sys.stderr)


def _as_collected(entry: Entry) -> GradeReport:
    report = entry.report
    assert report is not None
    if entry.student is None:
        return report
    info = report.submission.model_copy(update={"id": folder_name(entry.student)})
    return report.model_copy(update={"submission": info})


def _is_of(report: GradeReport, name: str, tried: Collection[str]) -> bool:
    """Whether a report is of an assignment; one without a grade is of all that anybody handed in."""
    if report.error and not report.submission.files:
        return not tried or name in tried
    return bool(report.of(name) or report.error) and any(
        file.startswith(f"{name}/") for file in report.submission.files
    )


def source_cells(book: Any, name: str) -> dict[str, tuple[str, str | None, bool]]:
    """Source, checksum and whether it is locked, of the cells that the gradebook knows."""
    return {
        cell.name: (cell.source, cell.checksum, bool(cell.locked))
        for cell in book.find_notebook(name, name).source_cells
    }


def _enter(
    course: Course, name: str, graded: Sequence[Graded], cells: Mapping[str, Any], jobs: int = 1
) -> None:
    """Grades into the gradebook, notebooks into `autograded/`, pages into `feedback/`; unchanged ones stay."""
    from grader.course.pages import feedback, has_pages, shown_anew, side_by_side, write_files_page

    decided = overrides(course)
    shown, notebooks = [], []
    for each in graded:
        if each.grading is None:
            continue
        counts = counting(course, name, each.item.student) or each.grading
        with gradebook.opened(course) as book:
            gradebook.save(book, course, counts, decided)
        if not each.fresh and has_pages(course, name, each.item.student):
            if shown_anew(course, each.grading):
                shown.append(each.item.student)
            continue
        unread = each.grading.report.error and not (each.grading.folder / "files").is_dir()
        if each.item.source == "notebook" and not unread:  # nbgrader would read it as little as the grader
            notebooks.append(each.item.student)
        else:
            write_files_page(course, each.grading, cells)
            shown.append(each.item.student)
    for problem in side_by_side(course, name, notebooks, jobs):
        print(f"graded, without a page: {problem}", file=sys.stderr)
    feedback(course, name, shown)


def _conclude(course: Course, results: Sequence[Graded], lost: bool) -> int:
    decided = overrides(course)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    print_cohort([table_row(course, each, decided) for each in results], console)
    missing = [each for each in results if each.grading is None or each.why_not]
    graded = len(results) - len(missing)
    again = sum(each.again for each in results)
    why = f" ({again} graded again: {WHY_AGAIN})" if again else ""
    print(
        f"\n{graded} of {len(results)} graded{why}; isolation: {course.settings.isolation}; grades in the gradebook, "
        "pages in feedback/<student>/, reports in ledger/"
    )
    for each in missing:
        print(f"not graded: {each.item.student}: {printable(each.why_not, 300)}", file=sys.stderr)
    return SOME_NOT_GRADED if missing or lost else 0


def table_row(
    course: Course, graded: Graded, decided: Mapping[tuple[str, str], Override]
) -> tuple[str, GradeReport | None, str]:
    """Student, the report that counts, and what decides besides what was just graded."""
    if graded.grading is None:
        return graded.item.student, None, graded.why_not
    name, student = graded.grading.attempt.assignment, graded.grading.attempt.student
    counts = counting(course, name, student) or graded.grading
    report = final(course, counts, decided, staff=True)
    notes = []
    if counts.key != graded.grading.key:
        notes.append(f"attempt {counts.attempt.number} counts")
    if share := course.settings.late.share(course.late_s(name, student, counts.handed_in)):
        notes.append(f"{score(100 * share)} % late")
    if any((student, f"{name}.{each}") in decided for each in course.points(name)):
        notes.append("set by hand")
    said = [graded.why_not, "" if report.error else note_on(report)]
    return student, report, "; ".join(dict.fromkeys(each for each in (*notes, *said) if each))
