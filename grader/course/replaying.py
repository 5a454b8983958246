"""Grades an entry of the ledger again: the same files, the course's seed; and shows staff what a check asked."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grader import cohort, plugin
from grader.calls.official import SandboxedRunner, stage_kit
from grader.checks.quantities import show
from grader.checks.verdicts import Judge
from grader.course.grading import exercises_of, seed_of
from grader.course.ledger import FOLDER, Grading, read_grading
from grader.course.settings import Course, read_course
from grader.judges import Order
from grader.kit import find_kit
from grader.printable import printable
from grader.refusal import BadInput
from grader.report import CheckResult, ExerciseResult, GradeReport
from grader.session import Installed, run_quietly, why_not

_SHOWN = 2000


@dataclass(frozen=True)
class Asked:
    """One check as staff see it: its result with nothing hidden, and what the submission was called with."""

    result: CheckResult
    calls: tuple[str, ...]


class StaffJudge(Judge):
    """A judge that hides nothing: its messages have what was got and what was expected."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.asked: list[Asked] = []

    def is_hidden(self, item: pytest.Item) -> bool:
        """False, so that messages are those of a visible check."""
        return False

    def judge(self, item: pytest.Item, error: BaseException | None, duration_s: float) -> CheckResult:
        """Judge as ever, and keep the calls."""
        result = super().judge(item, error, duration_s)
        calls = []
        for call in self.submission.calls:
            request = call.request
            given = [_short(each) for each in request.args]
            given += [f"{name}={_short(value)}" for name, value in request.kwargs.items()]
            calls.append(f"{request.function}({', '.join(given)})\n  -> {_short(call.got)}")
        hidden = super().is_hidden(item)
        self.asked.append(Asked(result.model_copy(update={"hidden": hidden}), tuple(calls)))
        return result


def _short(value: object) -> str:
    try:
        return printable(show(value) if isinstance(value, int | float) else repr(value), _SHOWN)
    except Exception as error:  # a value of the submission's own may refuse to be shown
        return f"(cannot be shown: {type(error).__name__})"


def entry(place: Path) -> tuple[Course, Grading]:
    """The ledger's entry in a folder, or of a report.json there, and its course.

    Raises:
        BadInput: it is none.
    """
    folder = (place.parent if place.is_file() else place).resolve()
    if (entries := sorted(each.parent.name for each in folder.glob("[0-9]*/attempt.json")))[:1]:
        raise BadInput(f"{printable(str(place))}: which attempt? there are {', '.join(entries)}")
    if len(folder.parts) < 5 or folder.parents[2].name != FOLDER:
        if (folder / "report.json").is_file():
            report = place if place.is_file() else place / "report.json"
            raise BadInput(
                f"{printable(str(place))}: no entry of a ledger; what each check of this report found is in "
                f"{printable(str(report))}, and grader grade --gradebook makes a ledger"
            )
        raise BadInput(
            f"{printable(str(place))}: no entry of a ledger, name COURSE_DIR/ledger/<assignment>/<student>/<number>"
        )
    course = read_course(folder.parents[3], find_kit(folder))
    if not course.kit.has_solutions:
        raise BadInput(f"{course.kit.solutions}: no solutions here; course.yaml says where, solutions: DIR")
    return course, read_grading(folder)


def files_of_entry(grading: Grading) -> Path:
    """The files that were graded.

    Raises:
        BadInput: nothing was graded, since the submission was refused, or the report came without files.
    """
    files = grading.folder / "files"
    if not files.is_dir():
        if grading.report.error:
            raise BadInput(f"{grading.folder}: nothing was graded there ({grading.report.error})")
        raise BadInput(
            f"{grading.folder}: has no files, the report came from `grader export nbgrader`; "
            "grade the submission with grader grade --gradebook"
        )
    return files


def asked(course: Course, grading: Grading, exercise: str) -> tuple[list[Asked], str]:
    """What the checks of one exercise asked of the submission, and the end of what it printed.

    Raises:
        BadInput: there are no files, or the tests cannot be run.
    """
    name = grading.attempt.assignment
    kit = course.kit
    with tempfile.TemporaryDirectory(prefix="rooflab-show-") as folder:
        runner = SandboxedRunner(
            stage_kit(kit, Path(folder)),
            files_of_entry(grading),
            {name: kit.available()[name]},
            course.settings.isolation,
            (kit.root, kit.solutions, course.root),
        )
        judge = StaffJudge(
            kit,
            runner,
            grading.report.submission,
            kind="official",
            seed=seed_of(course),
            only=(exercise,),
            on_report=lambda report: None,
        )
        tests = [*kit.visible_tests(name), *kit.hidden_tests(name)]
        code, output = run_quietly(kit.root, tests, [Installed(judge), plugin])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise BadInput(f"the tests cannot be run: {why_not(judge, output)}")
        return judge.asked, runner.output.get(name, "")


def again(course: Course, name: str, gradings: Sequence[Grading], jobs: int = 1) -> list[GradeReport | str]:
    """Grade entries of one assignment, one a student, again; nothing is written into the course.

    Returns:
        Of each entry its report, or why there is none.

    Raises:
        BadInput: an entry has no files, or grading was interrupted.
    """
    kit = replace(course.kit, only=(name,))
    with tempfile.TemporaryDirectory(prefix="rooflab-replay-") as folder:
        paths = []
        for each in gradings:
            path = Path(folder) / "submissions" / each.attempt.student
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(files_of_entry(each))
            paths.append(path)
        order = Order(
            kit,
            Path(folder) / "reports",
            course.settings.isolation,
            seed_of(course),
            jobs,
            exercises_of(course, name),
        )
        rows = cohort.grade(order, paths)
    reports: list[GradeReport | str] = []
    for row in rows:
        if row.report is None and "interrupted" in row.note:
            raise BadInput(f"{row.id}: {row.note}")
        if row.report is None:
            reports.append(row.note.removeprefix(f"{row.id}: "))
            continue
        reports.append(row.report.model_copy(update={"exercises": row.report.of(name), "only": ()}))
    return reports


def differences(before: GradeReport, now: GradeReport) -> list[str]:
    """What of a grade moved, a line an exercise."""
    was = {each.id: each for each in before.exercises}
    lines = []
    for each in now.exercises:
        old = was.pop(each.id, None)
        if old is None:
            lines.append(f"{each.id}: new, {_earned(each)} of {each.max_points:g}")
        elif _moves(old) != _moves(each):
            lines.append(f"{each.id}: {_earned(old)} ({old.outcome}) -> {_earned(each)} ({each.outcome})")
    lines += [f"{name}: gone, was {_earned(old)}" for name, old in was.items()]
    if before.error != now.error:
        lines.append(f"{before.error or 'graded'} -> {now.error or 'graded'}")
    return lines


def _moves(exercise: ExerciseResult) -> tuple[float, float, str]:
    return round(exercise.points, 6), round(exercise.pending_points, 6), exercise.outcome


def _earned(exercise: ExerciseResult) -> str:
    pending = round(exercise.pending_points, 2)
    return f"{round(exercise.points, 2):g}" + (f" and {pending:g} pending" if pending else "")
