"""What counts: the ledger's report with the course's points, overrides and late policy laid over it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from grader.course.ledger import Grading, Override, counting, overrides, students
from grader.course.settings import Course, HiddenChecks, LatePolicy
from grader.exports.plain import line, score
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome
from specs.assignment import Assignment


def course_reports(course: Course, staff: bool = False) -> list[GradeReport]:
    """One report a student over all assignments of the course, ready for an export or a page of feedback."""
    decided = overrides(course)
    by_student: dict[str, dict[str, GradeReport]] = {}
    for name in course.names:
        for student in students(course, name):
            grading = counting(course, name, student)
            if grading is not None:
                report = final(course, grading, decided, staff=staff)
                by_student.setdefault(student, {})[name] = report
    return [_joined(course, by_student[student]) for student in sorted(by_student)]


def final(
    course: Course,
    grading: Grading,
    decided: Mapping[tuple[str, str], Override] | None = None,
    *,
    staff: bool = False,
    late: bool = True,
) -> GradeReport:
    """One assignment's report as it counts.

    Args:
        course: whose points, visibility and late policy apply.
        grading: of the ledger.
        decided: the overrides; read from the ledger where not given.
        staff: hidden checks stay as they are.
        late: whether the late penalty is taken off the points; nbgrader has a place of its own for it.
    """
    attempt = grading.attempt
    spec = course.kit.available()[attempt.assignment]
    points = course.points(attempt.assignment)
    report = _without_files_of_others(adjusted(grading.report, attempt.assignment, points), spec, points)
    if not staff:
        report = with_hidden(report, course.settings.hidden_checks)
    decided = overrides(course) if decided is None else decided
    own = [each for (student, _), each in decided.items() if student == attempt.student]
    report = overridden(_complete(report, own, spec, points), own, spec, points)
    if late:
        late_s = course.late_s(attempt.assignment, attempt.student, grading.handed_in)
        report = penalised(report, course.settings.late, late_s, grading.taken_at is not None)
    return _open_by_others(report, grading)


def _open_by_others(report: GradeReport, grading: Grading) -> GradeReport:
    """The best attempt's report, pending by what another attempt may still make of the grade."""
    if report.error or not (grading.others or grading.could_gain):
        return report
    exercises = tuple(
        each.model_copy(update={"pending_points": each.pending_points + grading.could_gain.get(each.id, 0.0)})
        for each in report.exercises
    )
    info = report.submission.model_copy(update={"notes": (*report.submission.notes, *grading.others)})
    return report.model_copy(update={"exercises": exercises, "submission": info})


def adjusted(report: GradeReport, name: str, points: Mapping[str, float]) -> GradeReport:
    """The report with the course's exercises and points; scores are shares of an exercise's points."""
    exercises = []
    for each in report.of(name):
        worth = points.get(each.id.partition(".")[2])
        if worth is None:
            continue
        factor = worth / each.max_points
        exercises.append(
            each.model_copy(
                update={
                    "points": each.points * factor,
                    "pending_points": each.pending_points * factor,
                    "max_points": worth,
                }
            )
        )
    return report.model_copy(update={"exercises": tuple(exercises)})


def _without_files_of_others(report: GradeReport, spec: Assignment, points: Iterable[str]) -> GradeReport:
    """A student did not fail to hand in a file that no exercise of the course lies in."""
    wanted = {f"{spec.name}/{spec.exercise(name).file}" for name in points}
    missing = tuple(each for each in report.submission.missing if each in wanted)
    return report.model_copy(update={"submission": report.submission.model_copy(update={"missing": missing})})


def with_hidden(report: GradeReport, shown: HiddenChecks) -> GradeReport:
    """What students see of hidden checks: all that the kit says, their claims, or nothing."""
    if shown == "messages":
        return report
    return report.model_copy(
        update={
            "exercises": tuple(
                each.model_copy(update={"checks": tuple(_shown(each.checks, shown))})
                for each in report.exercises
            )
        }
    )


def _shown(checks: Iterable[CheckResult], shown: HiddenChecks) -> Iterable[CheckResult]:
    for check in checks:
        if not check.hidden:
            yield check
        elif shown == "claims":
            yield check.model_copy(update={"message": "", "hint": "", "mistake": "", "evidence": ()})


def _complete(
    report: GradeReport, decided: Sequence[Override], spec: Assignment, points: Mapping[str, float]
) -> GradeReport:
    """The report with all exercises of the course: one that it was not graded on is pending, not left out."""
    there = {each.id: each for each in report.exercises}
    lacking = [name for name in points if f"{spec.name}.{name}" not in there]
    if report.error or not lacking:
        return report
    waiting = _open(spec, {name: points[name] for name in lacking})
    every = there | {each.id: each for each in waiting}
    exercises = tuple(every[f"{spec.name}.{name}"] for name in points)
    given = {each.exercise for each in decided}
    notes = [f"{spec.name}.{name}: not graded yet" for name in lacking if f"{spec.name}.{name}" not in given]
    info = report.submission.model_copy(update={"notes": (*report.submission.notes, *notes)})
    return report.model_copy(update={"exercises": exercises, "submission": info})


def overridden(
    report: GradeReport, decided: Sequence[Override], spec: Assignment, points: Mapping[str, float]
) -> GradeReport:
    """Points that a person gave stand in for those of the grader, and the page says so."""
    here = {f"{spec.name}.{name}" for name in points}
    own = {each.exercise: each for each in decided if each.exercise in here}
    if not own:
        return report
    exercises, notes = report.exercises, list(report.submission.notes)
    if report.error:  # nothing was graded: what nobody decided stays open
        exercises = _open(spec, points, report.error)
        notes.append(report.error)
    changed = []
    for each in exercises:
        given = own.get(each.id)
        changed.append(each if given is None else _given(each, given.points))
        if given is not None:
            notes.append(f"{each.id}: {score(given.points)} points set by hand ({line(given.reason)})")
    info = report.submission.model_copy(update={"notes": tuple(notes)})
    return report.model_copy(update={"exercises": tuple(changed), "submission": info, "error": ""})


def _open(spec: Assignment, points: Mapping[str, float], why: str = "") -> tuple[ExerciseResult, ...]:
    """The exercises of an assignment that could not be graded, and why, or were not yet: all points pending."""
    said = CheckResult(
        name="graded",
        claim="What was handed in cannot be graded.",
        outcome=Outcome.NOT_GRADED,
        message=why,
    )
    return tuple(
        ExerciseResult(
            id=f"{spec.name}.{name}",
            title=spec.exercise(name).title,
            outcome=Outcome.NOT_GRADED,
            points=0.0,
            max_points=worth,
            pending_points=worth,
            extra_credit=spec.exercise(name).extra_credit,
            checks=(said,) if why else (),
        )
        for name, worth in points.items()
    )


def _given(exercise: ExerciseResult, points: float) -> ExerciseResult:
    outcome = exercise.outcome
    if points >= exercise.max_points:
        outcome = Outcome.PASSED
    elif outcome.pending or outcome is Outcome.PASSED:
        outcome = Outcome.FAILED
    return exercise.model_copy(update={"points": points, "pending_points": 0.0, "outcome": outcome})


def lateness(policy: LatePolicy, late_s: float, points: float, taken: bool = False) -> str:
    """How late something is, what that costs by which rule, and how many of its points; empty where it costs nothing.

    `taken` says that the attempt has no time of its own.
    """
    share = policy.share(late_s)
    if not share:
        return ""
    text = f"handed in {_duration(late_s)} late, {score(100 * share)} % taken off ({policy.rule})"
    if points:
        text += f": {score(share * points)} of {score(points)} points lost"
    return f"{text}; no time came with it, and this is by the other attempts" if taken else text


def penalised(report: GradeReport, policy: LatePolicy, late_s: float, taken: bool = False) -> GradeReport:
    """The report with a share of every exercise's points taken off; pending points lose it when they are decided.

    `taken` as in lateness.
    """
    share = policy.share(late_s)
    if not share:
        return report
    exercises = tuple(
        each.model_copy(
            update={
                "points": each.points * (1 - share),
                "pending_points": each.pending_points * (1 - share),
            }
        )
        for each in report.exercises
    )
    names = ", ".join(dict.fromkeys(each.id.split(".")[0] for each in exercises))
    note = f"{names}: {lateness(policy, late_s, report.points, taken)}"
    info = report.submission.model_copy(update={"notes": (*report.submission.notes, note)})
    return report.model_copy(update={"exercises": exercises, "submission": info})


def _duration(seconds: float) -> str:
    whole = timedelta(seconds=int(seconds))
    hours, minutes = divmod(whole.seconds // 60, 60)
    parts = [(whole.days, "d"), (hours, "h"), (minutes, "min")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or f"{int(seconds)} s"


def _joined(course: Course, by_name: Mapping[str, GradeReport]) -> GradeReport:
    """One student's reports of several assignments as one; of one that could not be graded the points are open."""
    reports = list(by_name.values())
    first = reports[0]
    if len(reports) == 1:
        return first
    errors = list(dict.fromkeys(f"{name}: {each.error}" for name, each in by_name.items() if each.error))
    infos = [each.submission for each in reports]
    info = first.submission.model_copy(
        update={
            "files": tuple(dict.fromkeys(file for each in infos for file in each.files)),
            "missing": tuple(dict.fromkeys(file for each in infos for file in each.missing)),
            "notes": tuple(dict.fromkeys((*errors, *(note for each in infos for note in each.notes)))),
        }
    )
    if all(each.error for each in reports):
        return first.model_copy(update={"submission": info, "error": "; ".join(errors)})
    specs = course.kit.available()
    exercises = [
        exercise
        for name, each in by_name.items()
        for exercise in (
            _open(specs[name], course.points(name), each.error) if each.error else each.exercises
        )
    ]
    return first.model_copy(
        update={
            "submission": info,
            "exercises": tuple(exercises),
            "error": "",
            "duration_s": sum(each.duration_s for each in reports),
        }
    )
