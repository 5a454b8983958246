"""GitHub Actions: a line of annotations for each submission, and a page for the job's summary.

For an instructor's own workflow, where staff read them. An ungraded submission is an error of the job and never a
score; pending points are a warning.

Source: GitHub's documentation, "Workflow commands for GitHub Actions" and "Adding a job summary", and the escapes of
actions/toolkit (`command.ts`).
"""

from collections.abc import Sequence, Set
from typing import Literal

from grader.exports import told
from grader.exports.plain import block, line, markdown, score
from grader.exports.roster import Entry
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome

MOST_SHOWN = 10
"""Annotations of one level that GitHub shows of a step; it drops the rest without a word."""
_MOST_BYTES = 900_000  # of a summary: GitHub refuses one of more than 1 MiB as a whole

Level = Literal["error", "warning", "notice"]


def annotations(entries: Sequence[Entry], timing: Set[str]) -> str:
    """Workflow commands, to be printed by a step: at most ten of a level, of which the last tells of the rest.

    Args:
        timing: names of the exercises that only a GPU decides; what was measured is said.
    """
    levels: tuple[Level, ...] = ("error", "warning", "notice")
    by_level: dict[Level, list[tuple[str, str]]] = {level: [] for level in levels}
    for entry in entries:
        by_level[_level(entry)].append((_who(entry), _told(entry, timing)))
    lines = []
    for level, found in by_level.items():
        shown = found if len(found) <= MOST_SHOWN else found[: MOST_SHOWN - 1]
        lines += [_command(level, *each) for each in shown]
        if len(shown) < len(found):
            rest = len(found) - len(shown)
            lines.append(
                _command(level, f"and {rest} more", "GitHub shows ten; all are in the job's summary")
            )
    return "".join(lines)


def summary(entries: Sequence[Entry], timing: Set[str]) -> str:
    """Markdown: a table of all, then what was timed of whom and what came of it.

    Ungraded and pending cells say so and hold no number that could be taken for a grade.
    """
    timed = [name for name in sorted(timing) if any(_exercise(entry.grade, name) for entry in entries)]
    heads = ["submission", "status", "points", "pending", *timed]
    rows = [_row([markdown(each) for each in heads]), _row(["---"] * len(heads))]
    details = []
    for entry in entries:
        rows.append(_row([markdown(_who(entry)), *_cells(entry, timed)]))
        for name in timed:
            found = _exercise(entry.grade, name)
            if found is not None and (said := _said(found)):
                details.append(f"- {markdown(_who(entry))}, {markdown(name)}: {markdown(said)}\n")
    graded = sum(entry.grade is not None for entry in entries)
    text = f"### Grades\n\n{graded} of {len(entries)} graded\n\n" + "".join(rows)
    if details:
        text += "\n#### Timing\n\n" + "".join(details)
    if len(text.encode()) > _MOST_BYTES:
        cut = text.encode()[:_MOST_BYTES].decode(errors="ignore")
        text = cut[: cut.rindex("\n") + 1] + "\nCut here: the rest is in the reports.\n"
    return text


def _level(entry: Entry) -> Level:
    if entry.report is not None and entry.grade is None:
        return "error"
    return "warning" if entry.grade is not None and entry.grade.provisional else "notice"


def _who(entry: Entry) -> str:
    if entry.report is not None:
        return line(entry.report.submission.id, 60)
    return entry.student.shown if entry.student else ""


def _told(entry: Entry, timing: Set[str]) -> str:
    if entry.report is None:
        return "no submission"
    report = entry.report
    parts = [told.summary(report) if entry.grade or report.error else "could not be graded"]
    for name in sorted(timing):
        found = _exercise(report, name)
        if found is not None and (said := _said(found)):
            parts.append(f"{name}: {said}")
    return "\n".join(parts)


def _exercise(report: GradeReport | None, name: str) -> ExerciseResult | None:
    return next((each for each in report.exercises if each.id == name), None) if report else None


def _cells(entry: Entry, timed: Sequence[str]) -> list[str]:
    report = entry.grade
    if report is None:
        why = markdown(line(entry.report.error, 200)) if entry.report else ""
        return [entry.status + (f": {why}" if why else ""), "", "", *[""] * len(timed)]
    extra = sum(each.points for each in report.exercises if each.extra_credit)
    points = f"{score(report.points - extra)} of {score(report.max_points)}" + (
        f" + {score(extra)}" if extra else ""
    )
    cells = [entry.status, points, score(report.pending_points) if report.pending_points else ""]
    for name in timed:
        found = _exercise(report, name)
        if found is None:
            cells.append("")
        else:
            cells.append(
                "pending" if found.pending_points else f"{score(found.points)} of {score(found.max_points)}"
            )
    return cells


def _said(exercise: ExerciseResult) -> str:
    """What the checks of a timed exercise say, in one paragraph."""
    parts = [_of_check(check) for check in exercise.checks if check.outcome is not Outcome.TODO]
    return line("; ".join(part for part in dict.fromkeys(parts) if part), 1500)


def _of_check(check: CheckResult) -> str:
    message = " ".join(block(check.message, 600).split())
    fingerprint = check.timing.fingerprint if check.timing else {}
    if "card" in fingerprint:
        message += (
            f" (on {line(fingerprint['card'], 60)}, driver {line(fingerprint.get('driver', 'unknown'), 20)})"
        )
    if check.outcome is Outcome.PASSED:
        return message
    word = told.word(check.outcome)
    return message if message.startswith(word) else f"{word}{': ' if message else ''}{message}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _command(level: Level, title: str, text: str) -> str:
    """`::warning title=ada::212.5 of 250 points`; nothing in a name or message can end it and begin another."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    named = title.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={named.replace(':', '%3A').replace(',', '%2C')}::{escaped}\n"
