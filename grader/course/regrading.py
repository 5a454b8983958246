"""What a regrade would change: attempts graded again under today's kit, and the grade that each student then has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from grader.checks.verdicts import environment
from grader.course.grades import adjusted, final
from grader.course.grading import seed_of
from grader.course.ledger import Grading, Override, attempts, overrides, students, that_counts
from grader.course.replaying import again, differences
from grader.course.settings import Course
from grader.report import Environment, GradeReport, Outcome


@dataclass(frozen=True)
class Regraded:
    """One attempt, as it was graded and as it is graded now."""

    before: Grading
    now: GradeReport


@dataclass(frozen=True)
class Move:
    """What becomes of one student's grade of an assignment."""

    student: str
    points: float
    """By how much it moves, as it counts: the course's points, overrides, lateness."""
    pending: float
    lines: tuple[str, ...]

    @property
    def moved(self) -> bool:
        """False where exercises moved and the grade did not: an override stands over them."""
        return bool(round(self.points, 6) or round(self.pending, 6))


@dataclass(frozen=True)
class Regrade:
    """Of one assignment."""

    regraded: tuple[Regraded, ...]
    moves: tuple[Move, ...]
    lost: tuple[str, ...]
    """Attempts that could not be graded again, and why; their grades stay as they are."""


def regrade_of(course: Course, name: str, jobs: int) -> Regrade:
    """Grade again what was graded under another kit, seed or library than now, or not wholly; nothing is written.

    Where the best attempt counts, all of them are graded again: another one may be the best now.
    """
    found = {student: attempts(course, name, student) for student in students(course, name)}
    now = environment(course.settings.isolation, course.kit, seed_of(course))
    # One attempt a student in each round: a cohort's reports are called as its students are.
    rounds: list[list[Grading]] = []
    lost = []
    for own in found.values():
        best = course.settings.attempts == "best"
        counts = that_counts(course, own)
        stale = [each for each in own if (best or each is counts) and _is_stale(course, each, now)]
        there = [each for each in stale if (each.folder / "files").is_dir()]
        lost += [
            _lost(each, each.report.error or "its files are not in the ledger")
            for each in stale
            if each not in there
        ]
        for index, each in enumerate(there):
            if index == len(rounds):
                rounds.append([])
            rounds[index].append(each)
    regraded = []
    for entries in rounds:
        for before, report in zip(entries, again(course, name, entries, jobs), strict=True):
            if isinstance(report, str) or report.error:
                lost.append(_lost(before, report if isinstance(report, str) else report.error))
            else:
                regraded.append(Regraded(before, report))
    moves = []
    decided = overrides(course)
    for student, own in found.items():
        moved = _move(course, student, own, {each.before.folder: each.now for each in regraded}, decided)
        if moved is not None:
            moves.append(moved)
    return Regrade(tuple(regraded), tuple(moves), tuple(lost))


def _is_stale(course: Course, grading: Grading, now: Environment) -> bool:
    """Whether it is of other conditions, has a check that the grader could not decide, or lacks an exercise.

    A timed check that found no verdict is no such check: it has attempts of its own.
    """
    report = grading.report
    if report.environment != now:
        return True
    if report.error:
        return False
    name = grading.attempt.assignment
    graded = {each.id.partition(".")[2] for each in report.of(name)}
    checks = [check for each in report.of(name) for check in each.checks]
    return not graded.issuperset(course.points(name)) or any(
        check.outcome is Outcome.GRADER_ERROR and check.timing is None for check in checks
    )


def _lost(grading: Grading, why: str) -> str:
    attempt = grading.attempt
    return f"{attempt.student}: {attempt.assignment}, attempt {attempt.number}: {why}"


def _move(
    course: Course,
    student: str,
    own: list[Grading],
    reports: Mapping[object, GradeReport],
    decided: Mapping[tuple[str, str], Override],
) -> Move | None:
    then = [replace(each, report=reports.get(each.folder, each.report)) for each in own]
    before, now = that_counts(course, own), that_counts(course, then)
    if before is None or now is None:
        return None
    lines = []
    if now.folder != before.folder:
        lines.append(f"attempt {now.attempt.number} counts instead of attempt {before.attempt.number}")
    name = before.attempt.assignment
    points = course.points(name)
    for line in differences(adjusted(before.report, name, points), adjusted(now.report, name, points)):
        given = decided.get((student, line.partition(":")[0]))
        stays = f" (set by hand to {given.points:g}, which stays)" if given else ""
        lines.append(f"{line}{stays}")
    was, is_now = final(course, before, decided), final(course, now, decided)
    pending = is_now.pending_points - was.pending_points
    if not lines and round(pending, 6):
        lines.append("what another attempt could still make of the grade has changed")
    return Move(student, is_now.points - was.points, pending, tuple(lines)) if lines else None
