"""JUnit XML: every check as a test case, for CI systems."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from grader.exports.plain import block, line, score
from grader.exports.roster import Entry
from grader.exports.told import word
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome

_ERRORS = frozenset(
    {Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.INTEGRITY, Outcome.GRADER_ERROR, Outcome.NOT_GRADED}
)


def junit(entries: Sequence[Entry]) -> str:
    """One suite a submission, one case a check; points are properties of the suite, for JUnit has no score.

    Pending checks are skipped, never failed, but for the grader's own errors, which are errors; so are crashes,
    time-outs and tampering. A submission that could not be graded is one case with an error, a student
    without one a skipped case. Extra credit fails and passes as the rest does; its points have a property of
    their own. For staff: hidden checks are in it, by claim.

    Source: Jenkins xUnit plugin, schema "junit-10.xsd", which allows properties in a suite only and which
    pytest's xunit2 family follows.
    """
    root = ET.Element("testsuites", name="rooflab")
    for entry in entries:
        root.append(_suite(entry))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, 0)) for suite in root)))
    root.set("time", _time(sum(float(suite.get("time", 0)) for suite in root)))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(entry: Entry) -> ET.Element:
    report = entry.report
    name = line(report.submission.id) if report else entry.student.shown if entry.student else ""
    suite = ET.Element("testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    for key, value in {"status": entry.status, **(_points(entry.grade) if entry.grade else {})}.items():
        ET.SubElement(properties, "property", name=key, value=value)
    if report is None:
        _add(suite, "submission", name, ("skipped", "no submission", ""))
    elif report.error or not report.exercises:
        message = block(report.error) or "no exercise was graded"
        _add(suite, "submission", name, ("error", "could not be graded", message))
    for exercise in report.exercises if report else ():
        for number, check in enumerate(exercise.checks, start=1):
            case = f"hidden {number}: {line(check.claim)}" if check.hidden else line(check.name)
            _add(suite, line(exercise.id), case, _verdict(exercise, check), check.duration_s)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", _time(report.duration_s if report else 0.0))
    return suite


def _points(report: GradeReport) -> dict[str, str]:
    extra = sum(each.points for each in report.exercises if each.extra_credit)
    return {
        "points": score(report.points - extra),
        "max_points": score(report.max_points),
        "extra_points": score(extra),
        "pending_points": score(report.pending_points),
        "isolation": report.environment.isolation,
    }


Verdict = tuple[str, str, str] | None
"""Tag, message and text; None for a pass."""


def _verdict(exercise: ExerciseResult, check: CheckResult) -> Verdict:
    if check.outcome is Outcome.PASSED:
        return None
    text = block(check.message)
    if check.hint:
        text += f"\nhint: {line(check.hint, 600)}"
    if check.outcome in _ERRORS:
        tag = "error"
    else:
        tag = "skipped" if check.outcome.pending else "failure"
    said = line(check.claim) or line(exercise.title)
    return tag, f"{word(check.outcome)}: {said}", text.strip("\n")


def _add(suite: ET.Element, group: str, name: str, verdict: Verdict, duration_s: float = 0.0) -> None:
    case = ET.SubElement(suite, "testcase", classname=group, name=name, time=_time(duration_s))
    if verdict is not None:
        tag, message, text = verdict
        ET.SubElement(case, tag, type=message.partition(":")[0], message=message).text = text


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
