"""`grader export`: reports as a gradebook, a platform or a CI system reads them."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grader.exports.canvas import canvas, undecided
from grader.exports.classroom import classroom, step_output
from grader.exports.github import annotations, summary
from grader.exports.gradescope import gradescope
from grader.exports.junit import junit
from grader.exports.plain import cell
from grader.exports.prairielearn import prairielearn
from grader.exports.reading import read_reports, refuse_different_points
from grader.exports.roster import Entry, Student, matched, read_roster
from grader.exports.spreadsheet import spreadsheet
from grader.output import folder, ordinary_file
from grader.printable import printable
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.report import ExerciseResult, GradeReport, Outcome, write_atomically
from specs.assignment import assignments


def _timing() -> frozenset[str]:
    """The exercises that only a GPU decides."""
    return frozenset(
        f"{name}.{each.id}"
        for name, spec in assignments().items()
        for each in spec.exercises
        if each.timing is not None or "gpu" in each.needs
    )


def _json(result: Mapping[str, object]) -> str:
    return json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


ONE_EACH: dict[str, tuple[str, Callable[[GradeReport], str]]] = {
    "gradescope": ("results.json", lambda report: _json(gradescope(report))),
    "classroom": ("result.txt", lambda report: step_output(classroom(report))),
    "prairielearn": ("results.json", lambda report: _json(prairielearn(report, _timing()))),
}
"""Formats with a file for each report, and what it is called."""

TOGETHER: dict[str, Callable[[Sequence[Entry]], str]] = {
    "canvas": lambda entries: canvas(entries, _timing()),
    "csv": spreadsheet,
    "github-annotations": lambda entries: annotations(entries, _timing()),
    "github-summary": lambda entries: summary(entries, _timing()),
    "junit": junit,
}
"""Formats with one file for all."""


def run(name: str, places: Sequence[Path], roster_file: Path | None, out: Path | None) -> int:
    """Write the export and say on stderr what is not in it; the exit code: 0, or 3 for a grade that is missing."""
    if name not in ONE_EACH and name not in TOGETHER and name != "nbgrader":
        choices = ", ".join(sorted({*ONE_EACH, *TOGETHER, "nbgrader"}))
        raise BadInput(f"format {printable(name, 40)}: no such format, choose one of {choices}")
    roster = read_roster(roster_file) if roster_file is not None else None
    reports = read_reports(places)
    entries = matched(reports, roster)
    if name == "nbgrader":
        from grader.commands.gradebook import enter_reports

        enter_reports(entries, out)
    elif name in ONE_EACH:
        _write_each(name, reports, out, several=len(reports) > 1 or any(place.is_dir() for place in places))
    else:
        if name in ("canvas", "csv"):  # the others have no columns to share
            refuse_different_points(reports)
        _write(TOGETHER[name](entries), out)
    return _say(name, entries, roster)


def _write_each(name: str, reports: Sequence[GradeReport], out: Path | None, several: bool) -> None:
    file, function = ONE_EACH[name]
    if not several:
        _write(function(reports[0]), out)
        return
    if out is None:
        raise BadInput(f"format {name} has a file for each report: name a folder with --out")
    folder(out)
    for report in reports:
        write_atomically(out / report.submission.id / file, function(report))


def _write(text: str, out: Path | None) -> None:
    if out is None:
        # In bytes: a terminal's or a pipe's own encoding may lack a name's letters.
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    else:
        ordinary_file(out)
        write_atomically(out, text)


def _say(name: str, entries: Sequence[Entry], roster: Sequence[Student] | None) -> int:
    """What is not in the export, a line each; what only waits for a GPU is one line for all."""
    timing = _timing()
    blank = undecided(entries, timing) if name == "canvas" else [[] for _ in entries]
    lost = False
    waiting = 0
    for entry, columns in zip(entries, blank, strict=True):
        report, who = entry.report, _who(entry)
        left = f"; blank: {', '.join(columns)}" if columns else ""
        if report is None:
            _tell(f"no submission: {who}")
            continue
        if not entry.listed:
            lost = True
            _tell(f"not on the roster: {who}{' (left out)' if name in ('canvas', 'nbgrader') else ''}")
        if entry.grade is None:
            lost = True
            _tell(f"not graded: {who}: {printable(report.error or 'grader error', 200)}")
            continue
        failed = _not_graded(report)
        for assignment, why in failed.items():
            lost = True
            _tell(f"not graded: {who}: {assignment}: {printable(why or 'grader error', 200)}")
        waits = {
            each.id: each.pending_points
            for each in report.exercises
            if each.pending_points and each.id.partition(".")[0] not in failed
        }
        if pending := sum(points for each, points in waits.items() if each not in timing):
            _tell(f"pending: {who}: {pending:g} points{left}")
        elif waits:
            waiting += 1
        elif left and not failed:
            _tell(f"partly graded: {who}{left}")
    if waiting:
        _tell(
            f"pending: {waiting} {'submissions wait' if waiting > 1 else 'submission waits'} for timing on a GPU"
        )
    if roster is not None and name in ("canvas", "csv"):
        _say_changed_ids(roster)
    return SOME_NOT_GRADED if lost else 0


def _not_graded(report: GradeReport) -> dict[str, str]:
    """The assignments of which no exercise could be graded, though others could, and why."""
    found: dict[str, list[ExerciseResult]] = {}
    for each in report.exercises:
        found.setdefault(each.id.partition(".")[0], []).append(each)
    return {
        name: next((check.message for each in own for check in each.checks if check.message), "")
        for name, own in found.items()
        if all(each.outcome in (Outcome.GRADER_ERROR, Outcome.NOT_GRADED) for each in own)
    }


def _tell(text: str) -> None:
    print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def _who(entry: Entry) -> str:
    name = printable(entry.report.submission.id, 60) if entry.report else ""
    if entry.student is None:
        return name
    return f"{entry.student.shown} ({name})" if name else entry.student.shown


def _say_changed_ids(roster: Sequence[Student]) -> None:
    for student in roster:
        for each in (student.id, student.sis_user_id, student.sis_login_id):
            if cell(each) != each:
                _tell(
                    f"changed: the id {printable(each, 60)} of {student.shown} looks like a formula or is not "
                    "plain text; the gradebook will not know it"
                )
