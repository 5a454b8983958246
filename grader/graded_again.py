"""Who is graded again though nobody handed in anything else: the kit, or what else a grade depends on, has changed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.intake import SubmissionRefused, submission_id
from grader.report import GradeReport, ReportUnreadable, read_report
from grader.summary import Row

WHY_AGAIN = "the kit, the seed, libraries or the isolation level have changed"


def reports_before(submissions: Sequence[Path], out: Path) -> dict[str, GradeReport]:
    """The reports that are there already, by submission."""
    found = {}
    for path in submissions:
        try:
            name = submission_id(path)
            found[name] = read_report(out / name / "report.json")
        except (SubmissionRefused, ReportUnreadable):  # the grading says so, or there is none yet
            continue
    return found


def is_graded_again(row: Row, before: Mapping[str, GradeReport]) -> bool:
    """Whether it was graded anew though its files are as they were, because what grades them is not."""
    earlier = before.get(row.id)
    return (
        row.report is not None
        and row.fresh
        and earlier is not None
        and earlier.submission.sha256 == row.report.submission.sha256
        and earlier.environment != row.report.environment
    )


def graded_again(rows: Sequence[Row], before: Mapping[str, GradeReport]) -> int:
    """How many were."""
    return sum(is_graded_again(row, before) for row in rows)
