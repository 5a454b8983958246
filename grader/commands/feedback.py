"""`grader feedback`: a page for each student, and all of them in a zip."""

import sys
from collections.abc import Sequence
from pathlib import Path

from grader.exports.reading import is_graded, read_reports
from grader.output import folder
from grader.printable import printable, printable_path
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.report import GradeReport, write_atomically

ZIP = "feedback.zip"


def run(places: Sequence[Path], out: Path, as_zip: bool) -> int:
    """Write `out/<id>/feedback.html` and `.md`; the exit code: 0, or 3 when one has no grade."""
    try:
        from grader.exports.feedback import feedback_html, feedback_markdown, zipped
    except ModuleNotFoundError as error:
        if error.name != "jinja2":
            raise
        raise BadInput("feedback needs Jinja2: pip install -e '.[instructor]' and run this again") from None
    folder(out)
    reports = read_reports(places)
    files = {}
    for report in reports:
        files[f"{report.submission.id}/feedback.html"] = feedback_html(report)
        files[f"{report.submission.id}/feedback.md"] = feedback_markdown(report)
    for name, text in files.items():
        write_atomically(out / name, text)
    where = printable_path(out)
    told = f"{len(reports)} pages in {where}/<submission>/"
    if as_zip:
        name = _zip_name(reports)
        write_atomically(out / name, zipped(files))
        told += f", zipped in {where}/{name}"
    print(told)
    ungraded = [report for report in reports if not is_graded(report)]
    for report in ungraded:
        why = printable(report.error or "grader error", 200)
        print(f"not graded: {printable(report.submission.id, 60)}: {why}", file=sys.stderr)
    return SOME_NOT_GRADED if ungraded else 0


def _zip_name(reports: Sequence[GradeReport]) -> str:
    """`feedback.zip`, or another name where a submission is called so and has its folder there."""
    taken = {report.submission.id.casefold() for report in reports}
    name = ZIP
    while name in taken:
        name = f"all-{name}"
    return name
