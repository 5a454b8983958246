"""Timed checks that nobody could decide yet: which they are, and what a further attempt starts from."""

from collections.abc import Collection, Iterable

from grader.checks.scoring import score
from grader.clock.verdict import TimingOutcome, TimingVerdict, key_of
from grader.report import CheckResult, GradeReport, Outcome
from specs.assignment import assignment


def to_be_timed_again(report: GradeReport, timed_here: bool, only: Collection[str] = ()) -> tuple[str, ...]:
    """Exercises with a check that wants another attempt, or that waits for a GPU where there is one now.

    Args:
        only: the exercises that were asked for; empty means all.
    """
    return tuple(
        exercise.id
        for exercise in report.exercises
        if (not only or exercise.id in only) and any(_again(check, timed_here) for check in exercise.checks)
    )


def _again(check: CheckResult, timed_here: bool) -> bool:
    if not timed_here:
        return False
    if check.timing is not None:
        return check.timing.next == "requeue"
    return check.outcome is Outcome.NEEDS_GPU


def without_unmeasured(report: GradeReport) -> GradeReport:
    """The report as it is where thresholds that nobody measured decide no points: what they decided waits again.

    A verdict of `integrity` hangs on no threshold, and stays.
    """
    exercises = []
    for exercise in report.exercises:
        name, _, short = exercise.id.partition(".")
        if any(_by_unmeasured(exercise.id, check) for check in exercise.checks):
            spec = assignment(name)
            checks = tuple(
                check.model_copy(update={"outcome": Outcome.NEEDS_GPU, "timing": None})
                if _by_unmeasured(exercise.id, check)
                else check
                for check in exercise.checks
            )
            exercise = score(spec, spec.exercise(short), checks)
        exercises.append(exercise)
    return report.model_copy(update={"exercises": tuple(exercises)})


def _by_unmeasured(exercise: str, check: CheckResult) -> bool:
    if check.timing is None or check.timing.outcome is not TimingOutcome.SCORED:
        return False
    name, _, short = exercise.partition(".")
    timing = assignment(name).exercise(short).timing
    return timing is not None and timing.status(check.timing.fingerprint.get("gpu", "")) == "unmeasured"


def earlier_verdicts(report: GradeReport | None, exercises: Iterable[str]) -> dict[str, TimingVerdict]:
    """What earlier attempts found, by exercise and check: decided ones stay, others are counted on."""
    wanted = set(exercises)
    return {
        key_of(exercise.id, check.name): check.timing
        for exercise in (report.exercises if report is not None else ())
        if exercise.id in wanted
        for check in exercise.checks
        if check.timing is not None
    }


def with_what_was_decided(before: GradeReport, now: GradeReport, again: Iterable[str]) -> GradeReport:
    """The report of a further attempt, in which what an earlier one had decided stays: a cheat gets no second try."""
    repeated = {exercise.id: exercise for exercise in before.exercises if exercise.id in set(again)}
    exercises = []
    for exercise in now.exercises:
        earlier = repeated.get(exercise.id)
        decided = {} if earlier is None else {c.name: c for c in earlier.checks if not c.outcome.pending}
        if decided:
            name, _, short = exercise.id.partition(".")
            spec = assignment(name)
            checks = tuple(decided.get(check.name, check) for check in exercise.checks)
            exercise = score(spec, spec.exercise(short), checks)
        exercises.append(exercise)
    return now.model_copy(update={"exercises": tuple(exercises)})


def for_staff(report: GradeReport) -> tuple[str, ...]:
    """Exercises whose speed nobody could decide in all attempts."""
    return tuple(
        exercise.id
        for exercise in report.exercises
        if any(check.timing is not None and check.timing.next == "staff" for check in exercise.checks)
    )
