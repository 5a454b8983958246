"""Starts a judge process for one submission, waits for its report, and ends it with the grader."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.clock.lock import FOLDER_VARIABLE
from grader.clock.verdict import TimingVerdict
from grader.intake import StagedSubmission
from grader.judge import Clock, Task
from grader.judge_processes import ForkedJudge, JudgeProcess, Setting, Starter
from grader.kit import Kit
from grader.printable import printable
from grader.report import Environment, GradeReport, ReportUnreadable, SubmissionInfo, read_report
from grader.sandbox import Level

_JUDGE_START_S = 60.0
_TRIES = 2
_RUN_S = 15 * 60.0
"""For which one submission can hold a GPU at the most: starts, pools and answers of both directions in the longest time
that they are given. What is honest takes a minute or two. A judge waits until every other one had it so long."""
_OF_THE_GPU = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", FOLDER_VARIABLE)
"""Variables that say which card there is, and where it is locked."""


@dataclass(frozen=True)
class Order:
    """What to grade, how, and where reports go."""

    kit: Kit
    out: Path
    isolation: Level
    seed: bytes
    jobs: int
    only: tuple[str, ...] = ()
    clock: Clock | None = None
    """What functions are timed on; None where there is nothing to time on, and points for speed stay pending."""
    accept_unmeasured: bool = False
    """Whether a threshold that nobody has measured decides points."""
    alone: bool = False
    """Whether the instructor vouches that nobody else is on the GPU, where that cannot be seen."""

    @property
    def assignments(self) -> tuple[str, ...]:
        """Names of the assignments that are graded."""
        wanted = {exercise.split(".")[0] for exercise in self.only}
        return tuple(name for name in self.kit.available() if not wanted or name in wanted)


def run_judge(
    order: Order,
    staged: StagedSubmission,
    info: SubmissionInfo,
    scratch: Path,
    current: Environment,
    running: "Running",
    earlier: Mapping[str, TimingVerdict],
) -> GradeReport:
    """Grade one submission in a judge process of its own, and again where the server that had forked it was lost."""
    for attempt in range(_TRIES):
        place = scratch / f"try-{attempt}"
        place.mkdir()
        report, is_lost = _one_try(_task(order, staged, info, place, current, earlier), order, running)
        if not is_lost or running.over:
            break
    return report


def _task(
    order: Order,
    staged: StagedSubmission,
    info: SubmissionInfo,
    place: Path,
    current: Environment,
    earlier: Mapping[str, TimingVerdict],
) -> Task:
    return Task(
        kit=order.kit.root,
        solutions=order.kit.solutions,
        staged=staged.root,
        scratch=place,
        report=place / "report.json",
        info=info,
        isolation=order.isolation,
        seed_hex=order.seed.hex(),
        assignments=order.assignments,
        only=order.only,
        hide=tuple({order.kit.root, order.kit.solutions, order.out, *_home()}),
        clock=order.clock,
        accept_unmeasured=order.accept_unmeasured,
        alone=order.alone,
        wait_s=_RUN_S * max(1, order.jobs),
        earlier=dict(earlier),
        environment=current,
    )


def _one_try(task: Task, order: Order, running: "Running") -> tuple[GradeReport, bool]:
    """(the report, whether there is none because the server was lost)."""
    log = task.scratch / "judge.log"
    limit_s = _JUDGE_START_S + sum(
        spec.limits.submission_s + spec.limits.import_s
        for name, spec in order.kit.available().items()
        if name in order.assignments
    )
    if order.clock is not None:
        limit_s += task.wait_s + _RUN_S
    with log.open("wb") as stream:
        judge, view = running.starter.start(task.scratch, stream)
    line = task.model_copy(update={"view": view}).model_dump_json().encode() + b"\n"
    with running.registered(judge):
        why = ""
        try:
            assert judge.stdin is not None
            judge.stdin.write(line)
            judge.stdin.flush()
            judge.wait(timeout=limit_s)
        except (BrokenPipeError, ValueError):  # the judge is gone, or an interrupted grader hung up on it
            pass
        except subprocess.TimeoutExpired:
            why = f"the judge did not finish within {limit_s:.0f} s"
        finally:
            running.end(judge)
    try:
        return read_report(task.report), False
    except ReportUnreadable:
        if not why and judge.returncode < 0:
            why, tail = f"the judge was killed by signal {-judge.returncode}", ""
        else:
            why = why or f"the judge ended with exit code {judge.returncode} and no report"
            tail = printable(" ".join(log.read_text(errors="replace").strip().splitlines()[-3:]), 300)
        error = f"{why}: {tail}" if tail else why
        report = GradeReport(kind="official", submission=task.info, environment=task.environment, error=error)
        return report, isinstance(judge, ForkedJudge) and judge.is_lost


def _home() -> list[Path]:
    """The user's home; nothing where a service account's home is a system folder that Python itself needs."""
    home = Path.home().resolve()
    needed = (Path(sys.base_prefix).resolve(), Path("/usr"), Path("/lib"))
    return [] if any(folder == home for folder in needed) or home == Path("/") else [home]


def starter(order: Order, work: Path) -> Starter:
    """What starts the judges of an order; `work` is a folder of the cohort's own.

    A judge that times on a GPU is started from nothing: a CUDA driver that was asked anything survives no fork.
    """
    specs = order.kit.available()
    needs = {
        need
        for name in order.assignments
        for exercise in specs[name].exercises
        if not order.only or f"{name}.{exercise.id}" in order.only
        for need in exercise.needs
    }
    setting = Setting(
        kit=order.kit.root,
        environment=_judge_environment(order.kit, work),
        level=order.isolation,
        preload=["numpy", "torch"] if needs & {"torch", "triton", "ranks"} else ["numpy"],
        mistakes=[order.kit.solutions / name for name in order.assignments],
    )
    by_server = order.clock is None and sys.platform == "linux"
    return Starter(setting, work / "forkserver", by_server=by_server)


def _judge_environment(kit: Kit, work: Path) -> dict[str, str]:
    """What a judge needs of the environment: no secret is in it, and nothing that steers pytest.

    Its temporary files lie in its scratch folder, which the cohort removes whatever happens to the judge.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV", *_OF_THE_GPU)
    }
    # python -P leaves the working folder out of sys.path; the kit's own folder is where specs and grader are
    return {
        **kept,
        "TMPDIR": str(work.resolve()),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(kit.root),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Running:
    """The judges that live now, so that an interrupted grader leaves none."""

    def __init__(self, starter: Starter) -> None:
        self.starter = starter
        self._lock = threading.Lock()
        self._judges: list[JudgeProcess] = []
        self.over = False
        """True once the grader was interrupted: no judge's end says anything about a submission any more."""

    @contextlib.contextmanager
    def registered(self, judge: JudgeProcess) -> Iterator[None]:
        with self._lock:
            self._judges.append(judge)
        if self.over:
            self.end(judge)
        try:
            yield
        finally:
            with self._lock:
                self._judges.remove(judge)

    def end(self, judge: JudgeProcess) -> None:
        """Close the judge's input, on which it ends itself and its workers; kill it where that does not help."""
        _hang_up(judge)
        try:
            judge.wait(timeout=10)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(judge.pid, signal.SIGKILL)
            judge.wait()

    def kill(self) -> None:
        """End all of them."""
        with self._lock:
            self.over = True
            judges = list(self._judges)
        for judge in judges:
            _hang_up(judge)  # all at once, then wait for each
        for judge in judges:
            self.end(judge)


def _hang_up(judge: JudgeProcess) -> None:
    with contextlib.suppress(OSError):
        if judge.stdin is not None:
            judge.stdin.close()
