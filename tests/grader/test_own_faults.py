"""Faults of our own side: a full disk, a folder that cannot be written, a worker that is missing, tests that raise.

Each is a clear refusal or leaves points pending, no report is half-written, and the same command completes later.
"""

import ast
import contextlib
import errno
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from grader import cohort
from grader.checks.verdicts import environment
from grader.judges import Order
from grader.kit import find_kit
from grader.report import GradeReport, Outcome, SubmissionInfo, read_report
from tests.grader.grade_command import KIT, SAMPLES, Course, make_course, processes_of, reports, wait_for

ONE = ("--jobs", "1", "--only", "memory.state_bytes_per_parameter")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return make_course(tmp_path_factory.mktemp("faults"))


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    folder = tmp_path / "submissions" / "ada"
    (folder / "memory").mkdir(parents=True)
    shutil.copy2(SAMPLES / "amara-perfect/memory/state.py", folder / "memory/state.py")
    return folder


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that finds nothing to say, at once."""

    def at_once(order: Order, staged: object, info: SubmissionInfo, *rest: object) -> GradeReport:
        current = environment("process", order.kit, b"seed")
        return GradeReport(kind="official", submission=info, environment=current)

    monkeypatch.setattr(cohort, "run_judge", at_once)


def order(course: Course, out: Path) -> Order:
    return Order(find_kit(course.kit), out, "process", b"seed", 1)


def failing(number: int, *file: str) -> Callable[..., None]:
    def fail(*args: object, **more: object) -> None:
        raise OSError(number, os.strerror(number), *file)

    return fail


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_disk_that_fails_while_a_report_is_written_costs_that_report_and_a_rerun_completes(
    course: Course, ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, step: str
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as broken:
        real = getattr(os, step)

        def fails_for_reports(*args: object, **more: object) -> object:
            called = [str(each) for each in args]
            if step == "fsync":  # which knows a descriptor only
                called = [os.readlink(f"/proc/self/fd/{args[0]}")]
            named = () if step == "fsync" else ("report.json",)
            if any(".report.json." in each for each in called):
                return failing(number, *named)()
            return real(*args, **more)

        broken.setattr(os, step, fails_for_reports)
        (row,) = cohort.grade(order(course, out), [ada])
    assert row.report is None
    assert os.strerror(number) in row.note
    if step != "fsync":
        assert "report.json" in row.note
    elif number in (errno.ENOSPC, errno.EDQUOT):
        assert str(out) in row.note
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == [".lock", "summary.csv"]
    (row,) = cohort.grade(order(course, out), [ada])
    assert row.report == read_report(out / "ada" / "report.json")


@pytest.mark.usefixtures("judged")
def test_a_full_disk_keeps_the_earlier_report_as_it_was(
    course: Course, ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    cohort.grade(order(course, out), [ada])
    before = reports(out)
    (ada / "memory" / "state.py").write_text("changed = True\n")
    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", failing(errno.ENOSPC, "report.json"))
        with pytest.raises(OSError, match="No space left"):  # the summary cannot be written either
            cohort.grade(order(course, out), [ada])
    assert reports(out) == before
    assert not list(out.rglob("*.part"))


def test_an_output_folder_that_cannot_be_made_or_locked_is_refused_in_one_line(
    course: Course, ada: Path
) -> None:
    for place in ("/proc/rooflab", "/dev/null/out"):
        done = course.grade(Path(place), [ada], *ONE)
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "cannot be written" in done.stderr or "Not a directory" in done.stderr


def test_a_worker_that_is_missing_leaves_points_pending_and_a_rerun_completes(
    course: Course, ada: Path, tmp_path: Path
) -> None:
    out, program = tmp_path / "out", course.kit / "grader" / "worker" / "serve.py"
    text = program.read_bytes()
    program.unlink()
    try:
        broken = course.grade(out, [ada], *ONE)
    finally:
        program.write_bytes(text)
    assert broken.code == 3
    (exercise,) = read_report(out / "ada" / "report.json").exercises
    assert (exercise.outcome, exercise.points, exercise.pending_points) == (Outcome.GRADER_ERROR, 0, 10)
    mended = course.grade(out, [ada], *ONE)
    assert (mended.code, mended.stderr) == (0, "")
    (exercise,) = read_report(out / "ada" / "report.json").exercises
    assert (exercise.outcome, exercise.points) == (Outcome.PASSED, 10)


def test_a_hidden_test_that_raises_leaves_its_own_weight_pending_and_says_nothing_of_why(
    course: Course, ada: Path, tmp_path: Path
) -> None:
    hidden = course.kit / "solutions" / "memory" / "hidden" / "test_state.py"
    text = hidden.read_text(encoding="utf-8")
    raising = '''

@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=6)
def test_that_breaks(submission, expect):
    """This one is broken."""
    raise RuntimeError("a secret of the course")
'''
    hidden.write_text(text + raising, encoding="utf-8")
    try:
        done = course.grade(tmp_path / "out", [ada], *ONE)
    finally:
        hidden.write_text(text, encoding="utf-8")
    report = read_report(tmp_path / "out" / "ada" / "report.json")
    (exercise,) = report.exercises
    (broken,) = [check for check in exercise.checks if check.outcome is Outcome.GRADER_ERROR]
    assert broken.message == "this check itself failed; it is not your fault"
    assert exercise.points > 0
    assert exercise.points + exercise.pending_points == pytest.approx(10)
    assert "a secret" not in report.model_dump_json() + done.stdout + done.stderr


def test_no_deadline_and_no_duration_hangs_on_the_wall_clock() -> None:
    """A clock that is set back, by NTP or by hand, changes when a report, a grading or an override says it was made."""
    found = set()
    for path in sorted((KIT / "grader").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in (
                "time.time",
                "datetime.now",
                "date.today",
            ):
                found.add((path.relative_to(KIT).as_posix(), ast.unparse(node)))
    records = ("checks/verdicts.py", "course/ledger.py", "commands/appeals.py")
    assert found == {(f"grader/{path}", "datetime.now") for path in records}


@pytest.mark.slow
def test_a_judge_killed_at_fifty_moments_leaves_whole_reports_and_the_last_run_completes(
    course: Course, ada: Path, tmp_path: Path
) -> None:
    began = time.monotonic()
    undisturbed = course.grade(tmp_path / "alone", [ada], *ONE)
    whole_s = time.monotonic() - began
    assert undisturbed.code == 0
    out, killed = tmp_path / "out", 0
    for moment in range(50):
        shutil.rmtree(out / "ada", ignore_errors=True)
        command = course.start(out, [ada], *ONE)
        time.sleep(whole_s * moment / 50)
        for process in processes_of(out):
            with contextlib.suppress(psutil.Error):  # it may have ended since it was listed
                if "grader.forkserver" in process.cmdline():  # the server, and the judges that it has forked
                    process.send_signal(signal.SIGKILL)
                    killed += 1
        command.communicate()
        for path in out.glob("*/report.json"):
            report = read_report(path)  # raises where one is half-written
            assert report.error or report.exercises[0].points == 10
        assert not list(out.rglob("*.part"))
        wait_for("nothing runs any more", lambda: not processes_of(out), at_most_s=10)
    assert killed > 20
    assert course.grade(out, [ada], *ONE).code == 0
    last, alone = (
        read_report(path / "ada" / "report.json").exercises[0] for path in (out, tmp_path / "alone")
    )
    assert (last.outcome, last.points) == (alone.outcome, alone.points)
