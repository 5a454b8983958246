"""Two stages of one grading: correctness on any machine, then times on a GPU for those whose kernels are right."""

from collections.abc import Iterator, Sequence

from grader.printable import printable
from grader.refusal import BadInput
from grader.report import ExerciseResult, GradeReport, Outcome
from grader.table import WORDS
from specs.assignment import assignments

_MUST_AGREE = ("isolation", "kit_version", "kit_sha256", "seed_id")
"""Of an environment: what decides points. Python, libraries and the system may differ between the two machines: a
verdict on speed has a fingerprint of its own."""


def timed_exercises() -> dict[str, tuple[str, ...]]:
    """Names of the exercises that only a GPU decides, each with those that it depends on."""
    return {
        f"{name}.{each.id}": tuple(f"{name}.{other}" for other in each.depends_on)
        for name, spec in assignments().items()
        for each in spec.exercises
        if each.timing is not None
    }


def worth_timing(report: GradeReport) -> tuple[str, ...]:
    """The timed exercises of a submission that are pending, and whose every dependency passed."""
    if report.error:
        return ()
    found = {each.id: each for each in report.exercises}
    return tuple(
        name
        for name, needed in timed_exercises().items()
        if name in found
        and found[name].pending_points > 0
        and all(each in found and found[each].outcome is Outcome.PASSED for each in needed)
    )


def why_not_timed(report: GradeReport) -> str:
    """Of a submission that is not worth timing the reason, in few words; empty for one that is."""
    if worth_timing(report):
        return ""
    if report.error:
        return f"not graded: {report.error}"
    found = {each.id: each for each in report.exercises}
    reasons = [
        _why_not(name, found[name], [(each, found.get(each)) for each in needed])
        for name, needed in timed_exercises().items()
        if name in found
    ]
    return "; ".join(reasons) or "nothing to time in its report"


def _why_not(name: str, timed: ExerciseResult, needed: Sequence[tuple[str, ExerciseResult | None]]) -> str:
    if not timed.pending_points:
        has_time = timed.outcome is Outcome.PASSED or any(check.timing for check in timed.checks)
        said = "already has its time" if has_time else "has nothing pending"
        return f"{name} {said} ({WORDS[timed.outcome][0]})"
    other, result = next(each for each in needed if each[1] is None or each[1].outcome is not Outcome.PASSED)
    if result is None or result.outcome is Outcome.GRADER_ERROR:
        return f"{other} was not graded"
    said = "is pending" if result.outcome.pending else "is not right"
    return f"{other} {said} ({WORDS[result.outcome][0]})"


def combined(graded: GradeReport, timed: GradeReport) -> GradeReport:
    """The first stage's report with what the second one found out about timed exercises.

    A timed exercise that the first stage decided stays, and so does one of which the second stage has nothing, and a
    report of the first stage that has no grade.

    Raises:
        BadInput: the two are not of the same files, kit, seed and isolation level.
    """
    if graded.error:  # refused since it was timed, say: nobody else's reports wait for it
        return graded
    name = printable(graded.submission.id, 60)
    if graded.submission.sha256 != timed.submission.sha256:
        raise BadInput(
            f"{name}: was timed with other files than it was graded with; grade it again, then time it"
        )
    for field in _MUST_AGREE:
        first, second = getattr(graded.environment, field), getattr(timed.environment, field)
        if first != second:
            raise BadInput(
                f"{name}: was timed under another {field} ({printable(second, 20)}) than it was graded under "
                f"({printable(first, 20)}); use one kit and one seed file for both"
            )
    fresh = dict(_fresh(graded, timed))
    if not fresh:
        return graded
    return graded.model_copy(
        update={
            "exercises": tuple(fresh.get(each.id, each) for each in graded.exercises),
            "duration_s": graded.duration_s + timed.duration_s,
        }
    )


def _fresh(graded: GradeReport, timed: GradeReport) -> Iterator[tuple[str, ExerciseResult]]:
    pending = {each.id for each in graded.exercises if each.pending_points > 0}
    for each in timed.exercises:
        if each.id in pending and each.id in timed_exercises():
            yield each.id, each


def paired(
    graded: Sequence[GradeReport], timed: Sequence[GradeReport]
) -> Iterator[tuple[GradeReport, GradeReport | None]]:
    """Each graded report with its timed one, where there is one that holds anything.

    Raises:
        BadInput: something was timed that was not graded.
    """
    by_id = {each.submission.id: each for each in timed}
    unknown = sorted(by_id.keys() - {each.submission.id for each in graded})
    if unknown:
        raise BadInput(f"{printable(unknown[0], 60)}: was timed and not graded; name its graded report too")
    for each in graded:
        found = by_id.get(each.submission.id)
        yield each, found if found is not None and not found.error else None
