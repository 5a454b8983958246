"""Writes what the grader found into a notebook's grade cells, and makes a notebook of a submission that is none."""

from collections.abc import Mapping
from html import escape
from typing import Any

from grader.course.grades import final, lateness
from grader.course.ledger import Grading, counting, gradings
from grader.course.settings import Course
from grader.exports import told
from grader.exports.plain import line
from grader.notebooks.page import exercise_html
from grader.notebooks.source import exercise_of, grade_id
from grader.report import GradeReport

Cells = Mapping[str, tuple[str, str | None]]
"""Source and checksum of the gradebook's cells, by id."""


def fill(nb: Any, course: Course, grading: Grading) -> None:
    """Give each grade cell the output that a student reads; nothing else in the notebook has any."""
    report = final(course, grading, late=False)
    by_id = {each.id: each for each in report.exercises}
    foot = _foot(course, grading, report)
    counts = counting(course, grading.attempt.assignment, grading.attempt.student)
    late = _late(course, counts) if counts is not None else ""
    for cell in nb.cells:
        exercise = exercise_of(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if cell.cell_type != "code" or exercise is None:
            continue
        result = by_id.get(exercise)
        if report.error or result is None:
            why = f"could not be graded: {line(report.error, 400)}" if report.error else "not graded"
            cell.outputs = [_output(f"<p>{escape(why)}; no points are lost</p>", why)]
        else:
            by_hand = [f"{note}." for note in report.submission.notes if note.startswith(f"{exercise}: ")]
            said = " ".join(each for each in (*by_hand, foot, late) if each)
            cell.outputs = [_output(exercise_html(result, said), told.as_text(result))]
            late = ""  # it is of the whole assignment, and said once


def restore_grade_cells(
    nb: Any, points: Mapping[str, float], name: str, cells: Cells, course: Course
) -> None:
    """Put back grade cells that a student deleted, at the end: their exercises are graded all the same."""
    import nbformat

    there = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells}
    extra = {each.id for each in course.kit.available()[name].exercises if each.extra_credit}
    for exercise, worth in points.items():
        wanted = grade_id(f"{name}.{exercise}")
        if wanted in there or wanted not in cells:
            continue
        source, checksum = cells[wanted]
        metadata = {
            "grade": True,
            "grade_id": wanted,
            "locked": True,
            "points": 0.0 if exercise in extra else worth,
            "schema_version": 3,
            "solution": False,
            "task": False,
            "cell_type": "code",
            "checksum": checksum,
        }
        made = nbformat.v4.new_code_cell(source, metadata={"nbgrader": metadata})
        if nb.nbformat_minor < 5:
            made.pop("id", None)
        nb.cells.append(made)


def from_files(
    course: Course, grading: Grading, texts: Mapping[str, str], points: Mapping[str, float], cells: Cells
) -> Any:
    """A notebook that shows submitted files and their results, for the gradebook's pages."""
    import nbformat

    name = grading.attempt.assignment
    came = f"Handed in as files: {', '.join(texts) or 'none'}."
    if grading.report.error and not texts:
        came = "Nothing of what was handed in could be graded."
    parts: list[Any] = [nbformat.v4.new_markdown_cell(f"# {course.kit.available()[name].title}\n\n{came}")]
    for file, text in texts.items():
        parts += [nbformat.v4.new_markdown_cell(f"`{file}`"), nbformat.v4.new_code_cell(text)]
    nb = nbformat.v4.new_notebook(
        cells=parts,
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )
    restore_grade_cells(nb, points, name, cells, course)
    for index, cell in enumerate(nb.cells):
        cell.id = f"cell-{index}"
    fill(nb, course, grading)
    return nb


def _foot(course: Course, grading: Grading, report: GradeReport) -> str:
    attempt = grading.attempt
    text = (
        f"Graded by Rooflab {report.environment.kit_version}, isolation level {report.environment.isolation}."
    )
    attempts = list(
        dict.fromkeys(str(each.key) for each in gradings(course, attempt.assignment, attempt.student))
    )
    counts = counting(course, attempt.assignment, attempt.student)
    if len(attempts) > 1 and counts is not None:
        number = attempts.index(str(counts.key)) + 1
        text = f"{text} Of {len(attempts)} attempts number {number} counts."
    if counts is not None:
        text = " ".join((text, *(f"{note}." for note in counts.others)))
    return text


def _late(course: Course, counts: Grading) -> str:
    """What lateness costs; beside the points, which are those before it, and nbgrader's line with the sum alone."""
    late_s = course.late_s(counts.attempt.assignment, counts.attempt.student, counts.handed_in)
    report = final(course, counts, late=False)
    late = lateness(course.settings.late, late_s, report.points, counts.taken_at is not None)
    if not late or report.error:
        return ""
    return f"The whole assignment: {late}; the points beside the exercises are those before it."


def _output(html: str, text: str) -> Any:
    import nbformat

    return nbformat.v4.new_output("display_data", data={"text/html": html, "text/plain": text})
