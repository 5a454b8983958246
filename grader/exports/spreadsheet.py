"""Plain CSV: one line a student or submission, for a spreadsheet or a script."""

import csv
import io
from collections.abc import Sequence

from grader.exports.plain import cell, score
from grader.exports.roster import Entry, Student
from grader.report import ExerciseResult, GradeReport
from grader.summary import note_on

_WHO = ("submission", "student", "id", "sis_user_id", "sis_login_id", "section", "status")
_TOTALS = ("points", "max_points", "extra_points", "pending_points")


def spreadsheet(entries: Sequence[Entry]) -> str:
    """Who, status, totals, a column an exercise, isolation level and note.

    An ungraded line has no points at all; an exercise with pending points says `pending`, one that was not
    graded is blank. `points` is without extra credit, which has its own column, and `max_points` likewise;
    with pending points they are what is earned so far, and the status is `provisional`.

    Source: RFC 4180, and OWASP, "CSV Injection".
    """
    exercises = list(
        dict.fromkeys(each.id for entry in entries if entry.grade for each in entry.grade.exercises)
    )
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_WHO, *_TOTALS, *map(cell, exercises), "isolation", "note"])
    for entry in entries:
        student = entry.student or Student()
        name = entry.report.submission.id if entry.report else ""
        who = (name, student.name, student.id, student.sis_user_id, student.sis_login_id, student.section)
        writer.writerow([*map(cell, who), entry.status, *_points(entry.grade, exercises), *_note(entry)])
    return stream.getvalue()


def _points(report: GradeReport | None, exercises: Sequence[str]) -> list[str]:
    if report is None:
        return [""] * (len(_TOTALS) + len(exercises))
    extra = sum(each.points for each in report.exercises if each.extra_credit)
    totals = (report.points - extra, report.max_points, extra, report.pending_points)
    by_id = {each.id: each for each in report.exercises}
    return [*map(score, totals), *(_exercise(by_id.get(name)) for name in exercises)]


def _exercise(exercise: ExerciseResult | None) -> str:
    if exercise is None:
        return ""
    return "pending" if exercise.pending_points else score(exercise.points)


def _note(entry: Entry) -> tuple[str, str]:
    if entry.report is None:
        return "", ""
    return entry.report.environment.isolation if entry.grade else "", cell(note_on(entry.report))
