"""`grader grade` broken off: killed, interrupted, started twice, or one of its judges killed."""

import contextlib
import csv
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from grader import cohort
from grader.checks.verdicts import environment
from grader.judges import Order
from grader.kit import find_kit
from grader.report import CheckResult, ExerciseResult, GradeReport, Outcome, SubmissionInfo, read_report
from tests.grader.grade_command import (
    SAMPLES,
    Course,
    ended,
    make_course,
    processes_of,
    reports,
    wait_for,
)

# One after the other, so that it is known who is graded when. A hanging one keeps its judge busy for 6 s.
ONE_AT_A_TIME = ("--jobs", "1", "--only", "memory.state_bytes_per_parameter")
HANGS = "def state_bytes_per_parameter(recipe):\n    while True:\n        pass\n"


@dataclass(frozen=True)
class Bench:
    """A course and small submissions: state.py alone, right or hanging."""

    course: Course
    first: Path
    stuck: Path
    last: Path

    @property
    def all(self) -> list[Path]:
        return [self.first, self.stuck, self.last]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("interrupted")
    made = {name: folder / "submissions" / name for name in ("first", "stuck", "last")}
    for submission in made.values():
        (submission / "memory").mkdir(parents=True)
        shutil.copy2(SAMPLES / "amara-perfect/memory/state.py", submission / "memory/state.py")
    (made["stuck"] / "memory/state.py").write_text(HANGS)
    return Bench(make_course(folder), **made)


@contextmanager
def running(command: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """The command; whatever a failing test leaves of it is ended."""
    try:
        yield command
    finally:
        if command.poll() is None:
            command.kill()
            command.communicate()


def judge_of(out: Path, submission: Path) -> psutil.Process | None:
    """The judge that grades a submission and has a worker running, if there is one now: the worker names its folder."""
    for process in processes_of(out):
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            workers = [child.cmdline() for child in process.children()]
            if any(word.endswith(f"/staged/{submission.name}") for words in workers for word in words):
                return process
    return None


def work_folders(out: Path) -> list[str]:
    return [path.name for path in out.iterdir() if path.name.startswith(".") and path.name != ".lock"]


def test_a_killed_grader_leaves_no_process_and_the_same_command_goes_on(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(bench.course.start(out, bench.all, *ONE_AT_A_TIME)) as command:
        wait_for(
            "the first report and a judge in a hanging call",
            lambda: reports(out) and judge_of(out, bench.stuck),
        )
        os.killpg(command.pid, signal.SIGKILL)
        command.communicate()
    assert command.returncode == -signal.SIGKILL
    wait_for("no judge and no worker is left", lambda: not processes_of(out), at_most_s=5)
    before = reports(out)
    assert list(before) == ["first"]

    again = bench.course.grade(out, bench.all, *ONE_AT_A_TIME)
    assert (again.code, again.stderr) == (0, "")
    assert "3 of 3 graded (1 unchanged since the last time)" in again.stdout
    after = reports(out)
    assert sorted(after) == ["first", "last", "stuck"]
    assert after["first"] == before["first"]
    assert {name: read_report(out / name / "report.json").points for name in after} == {
        "first": 10,
        "stuck": 0,
        "last": 10,
    }
    assert work_folders(out) == []
    assert processes_of(out) == []


def test_ctrl_c_is_one_line_and_leaves_nothing_behind(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(bench.course.start(out, bench.all, *ONE_AT_A_TIME)) as command:
        wait_for("a judge is in a hanging call", lambda: judge_of(out, bench.stuck))
        os.killpg(command.pid, signal.SIGINT)  # as a terminal does
        interrupted = ended(command)
    assert (interrupted.code, interrupted.stdout) == (130, "")
    assert interrupted.stderr.strip() == "grader: interrupted; run the same command again to go on"
    wait_for("no judge and no worker is left", lambda: not processes_of(out), at_most_s=5)
    assert work_folders(out) == []
    # Who was interrupted has no report, and no grader error either.
    assert list(reports(out)) == ["first"]


def test_sigterm_leaves_no_more_behind_than_ctrl_c_and_the_caller_sees_the_signal(
    bench: Bench, tmp_path: Path
) -> None:
    """As schedulers and `timeout` send it: to the grader alone, and not always once."""
    out = tmp_path / "out"
    with running(bench.course.start(out, bench.all, *ONE_AT_A_TIME)) as command:
        wait_for("a judge is in a hanging call", lambda: judge_of(out, bench.stuck))
        command.terminate()
        command.terminate()
        told = ended(command)
    assert (told.code, told.stdout) == (-signal.SIGTERM, "")
    assert told.stderr.strip() == "grader: interrupted; run the same command again to go on"
    wait_for("no judge and no worker is left", lambda: not processes_of(out), at_most_s=5)
    assert work_folders(out) == []
    assert list(reports(out)) == ["first"]


def test_a_second_grader_in_one_folder_is_refused_and_disturbs_nothing(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(bench.course.start(out, [bench.stuck], *ONE_AT_A_TIME)) as command:
        wait_for("a judge is in a hanging call", lambda: judge_of(out, bench.stuck))
        second = bench.course.grade(out, [bench.last], *ONE_AT_A_TIME)
        first = ended(command)
    assert (second.code, second.stdout) == (2, "")
    assert second.stderr.startswith("grader: ")
    assert "another grader is writing there" in second.stderr
    assert second.stderr.count("\n") == 1
    assert (first.code, first.stderr) == (0, "")
    assert list(reports(out)) == ["stuck"]


def test_a_judge_that_dies_costs_nobody_points(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(bench.course.start(out, bench.all, *ONE_AT_A_TIME)) as command:
        wait_for("a judge is in a hanging call", lambda: judge_of(out, bench.stuck)).kill()
        first = ended(command)
    assert first.code == 3
    assert first.stderr == "not graded: stuck: the judge was killed by signal 9\n"
    assert processes_of(out) == []
    assert "2 of 3 graded" in first.stdout
    report = read_report(out / "stuck" / "report.json")
    assert report.error == "the judge was killed by signal 9"
    assert report.provisional
    with (out / "summary.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["submission"]: row for row in csv.DictReader(stream)}
    assert [rows[name]["points"] for name in ("first", "stuck", "last")] == ["10", "", "10"]
    (line,) = [line.split() for line in first.stdout.splitlines() if line.startswith("stuck ")]
    assert line[1:4] == ["-", "-", "-"]

    before = reports(out)
    again = bench.course.grade(out, bench.all, *ONE_AT_A_TIME)
    assert (again.code, again.stderr) == (0, "")
    after = reports(out)
    assert [name for name in after if after[name] != before[name]] == ["stuck"]
    assert [each.outcome for each in read_report(out / "stuck/report.json").exercises] == [Outcome.TIMED_OUT]


def test_a_judge_that_dies_takes_no_earlier_grade_away(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit, out = find_kit(bench.course.kit), tmp_path / "out"
    current = environment("process", kit, b"seed")
    check = CheckResult(name="test_it", claim="It is right.", outcome=Outcome.PASSED)
    exercise = ExerciseResult(
        id="memory.bf16_update_lost",
        title="",
        outcome=Outcome.PASSED,
        points=5,
        max_points=5,
        checks=(check,),
    )

    def judged(order: Order, staged: object, info: SubmissionInfo, *rest: object) -> GradeReport:
        if order.only == (exercise.id,):
            return GradeReport(
                kind="official", submission=info, environment=current, exercises=(exercise,), only=order.only
            )
        return GradeReport(kind="official", submission=info, environment=current, error="the judge ended")

    monkeypatch.setattr(cohort, "run_judge", judged)
    cohort.grade(Order(kit, out, "process", b"seed", 1, (exercise.id,)), [bench.first])
    before = reports(out)
    (row,) = cohort.grade(Order(kit, out, "process", b"seed", 1), [bench.first])
    assert not row.graded
    assert row.note == "the judge ended"
    assert reports(out) == before


def test_a_report_that_cannot_be_written_stops_nobody_else(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit, out = find_kit(bench.course.kit), tmp_path / "out"

    def judged(order: Order, staged: object, info: SubmissionInfo, *rest: object) -> GradeReport:
        return GradeReport(kind="official", submission=info, environment=environment("process", kit, b"seed"))

    monkeypatch.setattr(cohort, "run_judge", judged)
    out.mkdir()
    (out / "first").write_text("a file where the report's folder goes")
    rows = cohort.grade(Order(kit, out, "process", b"seed", 1), [bench.first, bench.last])
    assert [row.graded for row in rows] == [False, True]
    assert "first: cannot be graded" in rows[0].note


def test_a_folder_whose_name_is_no_text_is_refused_at_once(bench: Bench, tmp_path: Path) -> None:
    refused = bench.course.grade(Path(f"{tmp_path}/o\udcff"), [bench.first], *ONE_AT_A_TIME)
    assert (refused.code, refused.stdout) == (2, "")
    assert "is no text in UTF-8, name another folder" in refused.stderr


def test_standard_descriptors_that_the_caller_closed_do_no_harm(bench: Bench, tmp_path: Path) -> None:
    """As `<&-` does: what a child inherits must not get their numbers."""
    words = [sys.executable, "-c", "from grader.cli import main; main()", "grade", str(bench.first)]
    words += ["--out", str(tmp_path / "out"), "--seed-file", str(tmp_path / "seed"), *ONE_AT_A_TIME]
    told = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *words], cwd=bench.course.kit, capture_output=True, text=True
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert read_report(tmp_path / "out" / "first" / "report.json").points == 10
