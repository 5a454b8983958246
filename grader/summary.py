"""A cohort's rows, and the CSV that an instructor opens: one line a submission, ungraded is blank and never 0."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from grader.attempts import for_staff
from grader.exports.plain import cell
from grader.report import GradeReport, Outcome, SubmissionInfo


@dataclass(frozen=True)
class Row:
    """One submission's line in the table."""

    id: str
    report: GradeReport | None
    note: str
    fresh: bool = True
    """False when an up-to-date report was there already."""
    displaced: bool = False
    """True when it is refused and had a grade from an earlier run, which no longer counts."""

    @property
    def graded(self) -> bool:
        """True when there is a grade, provisional or not."""
        if self.report is None or self.report.error:
            return False
        outcomes = {exercise.outcome for exercise in self.report.exercises}
        return not outcomes or not outcomes <= {Outcome.GRADER_ERROR, Outcome.NOT_GRADED}


def note_on(report: GradeReport) -> str:
    """What an instructor should see at a glance: why there is no grade, or what died, or that nothing was done."""
    if report.error:
        return report.error
    left_out = _left_out(report.submission)
    counts: dict[str, int] = {}
    for exercise in report.exercises:
        outcome = exercise.outcome.value
        if outcome in ("grader_error", "not_graded") and not exercise.checks:
            outcome = "not_graded_yet"
        if outcome in ("crashed", "timed_out", "integrity", "grader_error", "not_graded_yet"):
            counts[outcome] = counts.get(outcome, 0) + 1
    if all(exercise.outcome == "todo" for exercise in report.exercises):
        return "; ".join(["untouched", *left_out])
    notes = [f"{name.replace('_', ' ')} in {count}" for name, count in counts.items()]
    undecided = for_staff(report)
    if undecided:
        notes.append(f"for staff, no verdict on speed in all attempts: {', '.join(undecided)}")
    return "; ".join([*notes, *left_out])


def _left_out(submission: SubmissionInfo) -> list[str]:
    """The note, if any, on a file that may be the one that is missing, or that was edited in its place."""
    missing = [name.casefold() for name in submission.missing]
    beside = [f", {name} is there too" for name in submission.files]
    found = (
        note
        for note in submission.notes
        if any(name in note.casefold() for name in missing) or note.endswith(tuple(beside))
    )
    return list(found)[:1]


def summary_csv(rows: Sequence[Row]) -> str:
    """One line a submission. Ungraded is blank, never 0; what a spreadsheet would run as a formula is quoted away."""
    exercises = list(dict.fromkeys(each.id for row in rows if row.report for each in row.report.exercises))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        [
            "submission",
            "points",
            "max_points",
            "extra_points",
            "pending_points",
            "provisional",
            *exercises,
            "isolation",
            "note",
        ]
    )
    for row in rows:
        if not row.graded or row.report is None:
            writer.writerow(
                [cell(row.id), "", "", "", "", "", *[""] * len(exercises), "", cell(row.note, 2000)]
            )
            continue
        report = row.report
        by_id = {each.id: each for each in report.exercises}
        extra = sum(each.points for each in report.exercises if each.extra_credit)
        cells = []
        for exercise in exercises:
            each = by_id.get(exercise)
            undecided = each is None or (each.pending_points == each.max_points and each.points == 0)
            cells.append("" if undecided or each is None else f"{each.points:g}")
        writer.writerow(
            [
                cell(row.id),
                f"{report.points - extra:g}",
                f"{report.max_points:g}",
                f"{extra:g}",
                f"{report.pending_points:g}",
                "yes" if report.provisional else "no",
                *cells,
                report.environment.isolation,
                cell(row.note, 2000),
            ]
        )
    return stream.getvalue()
