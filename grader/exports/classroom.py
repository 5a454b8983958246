"""GitHub Classroom: the result that an autograding step hands to the reporter."""

import base64
import json

from grader.exports import told
from grader.exports.plain import line
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome


def classroom(report: GradeReport) -> dict[str, object]:
    """One test an exercise, from its visible checks alone: advice, no grade, for students see all of it.

    An exercise that has hidden checks gets the share of its points that its visible ones passed. What is
    pending counts in neither a score nor max_score, as the reporter turns all that is no pass into a lost
    point. Extra credit adds to the scores and not to max_score. With nothing decided max_score is 0, which
    the reporter does not send on, and there is one test all the same, since it divides by their number.

    Source: the action autograding-grading-reporter of GitHub Classroom (its README, "Usage", and the fields
    that its source reads).
    """
    tests = []
    most = 0.0
    failed = False
    for exercise in report.exercises if not report.error else ():
        visible = tuple(check for check in exercise.checks if not check.hidden)
        if not visible or any(check.outcome.pending for check in visible):
            continue
        passed = all(check.outcome is Outcome.PASSED for check in visible)
        failed |= not passed and not exercise.extra_credit
        most += 0 if exercise.extra_credit else exercise.max_points
        tests.append(_test(exercise, visible, passed))
    if not tests:
        text = told.summary(report) if report.error else "nothing could be decided on this machine"
        tests.append(_entry("pending", "error", 0.0, text, 0.0))
    status = "error" if not most else "fail" if failed else "pass"
    return {"version": 3, "status": status, "max_score": round(most, 2), "tests": tests}


def step_output(result: dict[str, object]) -> str:
    """The line for `$GITHUB_OUTPUT`."""
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return f"result={base64.b64encode(text.encode('utf-8', 'replace')).decode('ascii')}\n"


def _test(exercise: ExerciseResult, visible: tuple[CheckResult, ...], passed: bool) -> dict[str, object]:
    shown = exercise.model_copy(update={"checks": visible, "pending_points": 0.0})
    name = f"{line(exercise.id)}: {line(exercise.title)}" + (" (extra)" if exercise.extra_credit else "")
    duration = sum(check.duration_s for check in visible)
    return _entry(
        name, "pass" if passed else "fail", _score(exercise, visible), told.as_text(shown), duration
    )


def _score(exercise: ExerciseResult, visible: tuple[CheckResult, ...]) -> float:
    if len(visible) == len(exercise.checks):
        return exercise.points
    weight = sum(check.weight for check in visible)
    passed = sum(check.weight for check in visible if check.outcome is Outcome.PASSED)
    return exercise.max_points * passed / weight if weight else 0.0


def _entry(name: str, status: str, score: float, message: str, duration_s: float) -> dict[str, object]:
    return {
        "name": name,
        "status": status,
        "score": round(score, 2),
        "line_no": 0,
        "message": message,
        "test_code": "",
        "filename": "",
        "duration": round(1000 * duration_s),
    }
