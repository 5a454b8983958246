"""From check results to exercise results: points are the earned weight over the whole weight."""

from collections.abc import Iterable, Mapping, Sequence

from grader.report import CheckResult, ExerciseResult, Outcome
from specs.assignment import Assignment, Exercise

# When several things went wrong in one exercise, the first of these names it.
_WORST_FIRST = (
    Outcome.INTEGRITY,
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.FAILED,
    Outcome.GRADER_ERROR,
    Outcome.NOT_GRADED,
    Outcome.INCONCLUSIVE,
    Outcome.NEEDS_GPU,
    Outcome.NEEDS_TRITON,
    Outcome.NEEDS_TORCH,
    Outcome.TODO,
)


def score(spec: Assignment, exercise: Exercise, checks: Sequence[CheckResult]) -> ExerciseResult:
    """The result of one exercise.

    An exercise without checks in this run is pending in full: nobody looked at it.
    """
    total = sum(check.weight for check in checks)
    earned = sum(check.earned_weight for check in checks)
    pending = sum(check.weight for check in checks if check.outcome.pending)
    share = exercise.points / total if total else 0.0
    return ExerciseResult(
        id=f"{spec.name}.{exercise.id}",
        title=exercise.title,
        outcome=overall(checks),
        points=round(earned * share, 6),
        max_points=exercise.points,
        pending_points=round(pending * share, 6) if total else exercise.points,
        extra_credit=exercise.extra_credit,
        todo=exercise.todo,
        checks=tuple(checks),
    )


def overall(checks: Iterable[CheckResult]) -> Outcome:
    """One outcome for an exercise: passed when all did, todo when nothing else is there, else the worst."""
    outcomes = {check.outcome for check in checks}
    if not outcomes:
        return Outcome.GRADER_ERROR
    if outcomes == {Outcome.PASSED}:
        return Outcome.PASSED
    if Outcome.TODO in outcomes and not outcomes - {Outcome.TODO, Outcome.PASSED}:
        return Outcome.TODO if Outcome.PASSED not in outcomes else Outcome.FAILED
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


def score_all(
    specs: Mapping[str, Assignment], checks: Mapping[str, Sequence[CheckResult]]
) -> tuple[ExerciseResult, ...]:
    """Results of every exercise that has checks, in the order of the specs."""
    results = []
    for spec in specs.values():
        for exercise in spec.exercises:
            found = checks.get(f"{spec.name}.{exercise.id}")
            if found:
                results.append(score(spec, exercise, found))
    return tuple(results)
