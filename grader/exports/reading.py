"""Which reports are exported: those that `grader grade` wrote, each student once; everything else is refused.

A report.json proves nothing by itself, since anybody can write one. It is read only where `grader grade --out`
put it: in a folder named after the submission, beside a summary.csv.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.course.settings import is_course, read_course
from grader.kit import find_kit
from grader.printable import printable, printable_path
from grader.refusal import BadInput
from grader.report import GradeReport, ReportUnreadable, read_report
from grader.summary import Row

_REPORT = "report.json"
_ROUNDING = 1e-6


def read_reports(places: Sequence[Path]) -> list[GradeReport]:
    """The reports in `places`: report files, folders of one report, `--out` folders, or courses with their ledger.

    Two reports of one submission are refused, since which attempt counts is for the instructor to say.

    Raises:
        BadInput: a place holds no report, or one that is broken, of another version, a self-check, not where
            `grader grade` writes it, or a submission's second one.
    """
    found: dict[str, Path] = {}
    reports = []
    courses = [place for place in places if is_course(place)]
    for place in courses:
        for report in _of_course(place):
            found[report.submission.id] = place
            reports.append(report)
    places = [place for place in places if place not in courses]
    for path in dict.fromkeys(each for place in places for each in _report_files(place)):
        report = _trusted(path)
        name = report.submission.id
        if name in found:
            raise BadInput(
                f"{printable(name)}: two reports, {printable_path(found[name])} and {printable_path(path)}; "
                "name the one that counts"
            )
        found[name] = path
        reports.append(report)
    return sorted(reports, key=lambda report: report.submission.id)


def _of_course(place: Path) -> list[GradeReport]:
    from grader.course.grades import course_reports  # which reads reports itself

    reports = course_reports(read_course(place, find_kit(place)))
    if not reports:
        raise BadInput(f"{printable_path(place)}: nothing in its ledger, run grader grade --gradebook first")
    return reports


def _report_files(place: Path) -> list[Path]:
    shown = printable_path(place)
    if place.is_file():
        if place.name != _REPORT:
            raise BadInput(f"{shown}: not a {_REPORT}, name one or the --out folder of grader grade")
        return [place.resolve()]
    if not place.is_dir():
        raise BadInput(f"{shown}: no such file or folder")
    if (place / _REPORT).is_file():
        return [(place / _REPORT).resolve()]
    paths = sorted(path.resolve() for path in place.glob(f"*/{_REPORT}"))
    if not paths:
        raise BadInput(f"{shown}: holds no <submission>/{_REPORT}, name the --out folder of grader grade")
    return paths


def _trusted(path: Path) -> GradeReport:
    shown = printable_path(path)
    if not (path.parent.parent / "summary.csv").is_file():
        raise BadInput(
            f"{shown}: not in an --out folder of grader grade (no summary.csv there); a report from elsewhere "
            "is not trusted"
        )
    try:
        report = read_report(path)
    except ReportUnreadable as error:
        raise BadInput(f"{error}; grade it again") from None
    if report.kind != "official":
        raise BadInput(f"{shown}: a self-check, which is no grade; grade the submission with grader grade")
    if report.submission.id != path.parent.name:
        raise BadInput(
            f"{shown}: is the report of {printable(report.submission.id, 60)}, which is not its folder's name; "
            "a report that was moved is not trusted"
        )
    names = [each.id for each in report.exercises]
    for each in report.exercises:
        sums = (each.points, each.pending_points, each.max_points - each.points - each.pending_points)
        if names.count(each.id) > 1 or not all(math.isfinite(part) and part > -_ROUNDING for part in sums):
            raise BadInput(f"{shown}: the points of {printable(each.id, 60)} cannot be; grade it again")
    return report


def is_graded(report: GradeReport) -> bool:
    """False where there is no grade at all: the submission or the grader failed as a whole."""
    return Row(report.submission.id, report, "").graded


def refuse_different_points(reports: Iterable[GradeReport]) -> None:
    """Columns have one maximum each: refuse reports that disagree on it.

    Raises:
        BadInput: an exercise has other points in one report than in another.
    """
    first: dict[str, tuple[float, bool, str]] = {}
    for report in reports:
        for each in report.exercises:
            points, extra, whose = first.setdefault(
                each.id, (each.max_points, each.extra_credit, report.submission.id)
            )
            if (points, extra) != (each.max_points, each.extra_credit):
                raise BadInput(
                    f"{printable(each.id)}: {points:g} points for {printable(whose)}, {each.max_points:g} for "
                    f"{printable(report.submission.id)}; grade all with the same kit"
                )
