"""Gradescope: the results.json of an autograder."""

from grader.exports import told
from grader.exports.plain import block, line
from grader.exports.reading import is_graded
from grader.report import ExerciseResult, GradeReport, Outcome


def gradescope(report: GradeReport) -> dict[str, object]:
    """One test an exercise, visible; what hidden checks are called goes into tests that only staff see.

    The score at the top is the points earned, extra credit included (the assignment's points on Gradescope are
    `extra_data.max_points`, which are without); it overrides the sum of the tests, so that rounding each to two
    decimals changes no total. Pending points are in no score: a test that nobody could decide has none, and
    with pending points the top is what is earned so far, and the output says so. A submission that could not
    be graded has no score at all, which the specification does not allow for a grade: it is none. The hidden
    tests are worth nothing, as the specification asks.

    Source: Gradescope Autograder Documentation, "Autograder Specifications", "Output format" and "Controlling
    test case visibility".
    """
    tests: list[dict[str, object]] = []
    for number, exercise in enumerate(report.exercises, start=1):
        tests.append(_test(exercise, number))
        staff = _for_staff(exercise, number)
        if staff:
            tests.append(staff)
    graded = is_graded(report)
    result: dict[str, object] = {"score": round(report.points, 2)} if graded else {}
    return {
        **result,
        "output": told.summary(report),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(report.duration_s),
        "tests": tests if graded else [],
        "extra_data": {
            "submission": line(report.submission.id),
            "max_points": round(report.max_points, 2),
            "extra_points": round(sum(each.points for each in report.exercises if each.extra_credit), 2),
            "pending_points": round(report.pending_points, 2),
            "provisional": report.provisional,
            "isolation": report.environment.isolation,
            "kit_version": line(report.environment.kit_version),
        },
    }


def _test(exercise: ExerciseResult, number: int) -> dict[str, object]:
    name = f"{line(exercise.id)}: {line(exercise.title)}"
    test: dict[str, object] = {"name": name + (" (extra credit)" if exercise.extra_credit else "")}
    if not told.wholly_pending(exercise):
        test["score"] = round(exercise.points, 2)
    test["max_score"] = round(exercise.max_points, 2)
    if not exercise.pending_points:
        # There are two words only, and a pending test is neither.
        test["status"] = "passed" if exercise.outcome is Outcome.PASSED else "failed"
    tags = [
        name for name, on in (("extra", exercise.extra_credit), ("pending", exercise.pending_points)) if on
    ]
    return {
        **test,
        "number": str(number),
        "output": told.as_text(exercise),
        "output_format": "text",
        "tags": tags,
        "visibility": "visible",
    }


def _for_staff(exercise: ExerciseResult, number: int) -> dict[str, object] | None:
    lines = [
        f"{told.word(check.outcome)}: {line(check.name)}"
        + (f" ({line(check.mistake)})" if check.mistake else "")
        for check in exercise.checks
        if check.outcome is not Outcome.PASSED and (check.hidden or check.mistake)
    ]
    if not lines or exercise.outcome is Outcome.TODO:
        return None
    return {
        "name": f"{line(exercise.id)}: for staff",
        "score": 0,
        "max_score": 0,
        "status": "failed",
        "number": f"{number}.1",
        "output": block("\n".join(lines)),
        "output_format": "text",
        "tags": ["staff"],
        "visibility": "hidden",
    }
