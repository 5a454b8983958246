"""Canvas: a CSV file for the gradebook's import."""

import csv
import io
from collections.abc import Collection, Iterator, Sequence

from grader.exports.plain import cell, score
from grader.exports.roster import Entry
from grader.report import ExerciseResult, GradeReport

_WHO = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def canvas(entries: Sequence[Entry], timing: Collection[str] = ()) -> str:
    """A gradebook with a column an assignment, and one of its own for the exercises in `timing`.

    A timed exercise waits for a GPU; in its own column it holds nothing back. A cell is blank, which Canvas
    reads as "no change", where there is no grade, where points of that column are pending, and where a report
    lacks an exercise that another one has (`grader grade --only`). Extra credit adds to its assignment's score
    and not to Points Possible, as Canvas does it. Without a roster the submission's id is name and login;
    with one, a report whose student it lacks is left out, for Canvas falls back to matching by name, and a
    student chooses what a submission is called. There is no column for the status: Canvas would make an
    assignment of it.

    Source: Canvas Instructor Guide, "How do I import grades in the Gradebook?" and "How do I export grades in
    the Gradebook?"; the importer itself, `lib/gradebook_importer.rb` of canvas-lms.
    """
    columns = _columns([entry.grade for entry in entries if entry.grade], timing)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_WHO, *(title for title, _ in columns)])
    writer.writerow(["    Points Possible", "", "", "", "", *(score(_most(own)) for _, own in columns)])
    for entry in entries:
        if entry.listed:
            writer.writerow([*_who(entry), *(_cell(entry.grade, own) for _, own in columns)])
    return stream.getvalue()


def undecided(entries: Sequence[Entry], timing: Collection[str] = ()) -> list[list[str]]:
    """For each entry the titles of the columns that are blank though it has a grade."""
    columns = _columns([each.grade for each in entries if each.grade], timing)
    return [
        [title for title, own in columns if not _cell(entry.grade, own)] if entry.grade else []
        for entry in entries
    ]


Column = tuple[str, dict[str, ExerciseResult]]


def _columns(reports: Sequence[GradeReport], timing: Collection[str]) -> list[Column]:
    """Title and exercises, in the order of the reports."""
    found: dict[str, dict[str, ExerciseResult]] = {}
    for exercise in _each_once(reports):
        title = f"Rooflab {exercise.id.split('.')[0]}" + (" timing" if exercise.id in timing else "")
        found.setdefault(cell(title), {})[exercise.id] = exercise
    return list(found.items())


def _each_once(reports: Sequence[GradeReport]) -> Iterator[ExerciseResult]:
    yield from {each.id: each for report in reports for each in report.exercises}.values()


def _most(exercises: dict[str, ExerciseResult]) -> float:
    return sum(each.max_points for each in exercises.values() if not each.extra_credit)


def _who(entry: Entry) -> list[str]:
    student = entry.student
    if student is None:
        name = entry.report.submission.id if entry.report else ""
        return [_no_header(cell(name)), "", "", cell(name), ""]
    name = student.name or student.sis_login_id or student.sis_user_id or student.id or student.submission
    ids = [cell(each) for each in (student.id, student.sis_user_id, student.sis_login_id, student.section)]
    return [_no_header(cell(name)), *ids]


def _no_header(name: str) -> str:
    """A row whose first cell holds these words sets the points of all assignments."""
    return name.replace("Points Possible", "Points-Possible")


def _cell(report: GradeReport | None, exercises: dict[str, ExerciseResult]) -> str:
    own = [each for each in report.exercises if each.id in exercises] if report else []
    if len(own) < len(exercises) or any(each.pending_points for each in own):
        return ""
    return score(sum(each.points for each in own))
