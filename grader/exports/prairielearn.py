"""PrairieLearn: the results.json of an external grader."""

from collections.abc import Collection

from grader.exports import told
from grader.exports.plain import line, score
from grader.exports.reading import is_graded
from grader.report import ExerciseResult, GradeReport

_OUTPUT = 2000  # a results.json may have 1 MB: a hundred exercises of four-byte characters stay below it


def prairielearn(report: GradeReport, timing: Collection[str] = ()) -> dict[str, object]:
    """A score in [0, 1] with one test an exercise, or `gradable: false` where it would be a guess.

    Exercises of `timing` whose points are all pending wait for a GPU: they are left out of the score, above
    and below. Any other pending point, and a submission that could not be graded, makes the result not
    gradable, which costs no attempt and no points; its tests are listed still. Extra credit adds to the
    points, and the score ends at 1, where PrairieLearn's range ends: what is beyond is in the message.

    Source: PrairieLearn documentation, "External Grading", "Grading results".
    """
    waiting = [each for each in report.exercises if each.id in timing and told.wholly_pending(each)]
    counted = [each for each in report.exercises if each not in waiting]
    most = sum(each.max_points for each in counted if not each.extra_credit)
    reasons = []
    if not is_graded(report):
        reasons.append(told.summary(report) if report.error else "the grader failed, it is graded again")
    elif pending := sum(each.pending_points for each in counted):
        reasons.append(f"{score(pending)} points are pending: this machine could not decide them")
    elif not most:
        reasons.append("nothing but extra credit or timing was graded")
    message = told.summary(report)
    if waiting:
        message += f"; not counted yet: {', '.join(line(each.id) for each in waiting)}"
    result: dict[str, object] = {"gradable": not reasons}
    if reasons:
        result["format_errors"] = reasons
    else:
        result["score"] = min(1.0, sum(each.points for each in counted) / most)
    return {**result, "message": message, "output": "", "tests": [_test(each) for each in report.exercises]}


def _test(exercise: ExerciseResult) -> dict[str, object]:
    extra = " (extra credit)" if exercise.extra_credit else ""
    test: dict[str, object] = {"name": f"{line(exercise.id)}{extra}", "description": line(exercise.title)}
    if not told.wholly_pending(exercise):
        test["points"] = round(exercise.points, 2)
        test["max_points"] = round(exercise.max_points, 2)
    word = "pending" if told.wholly_pending(exercise) else told.word(exercise.outcome)
    return {**test, "message": word, "output": told.as_text(exercise, _OUTPUT)}
