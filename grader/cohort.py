"""Grades many submissions side by side: one judge process each, one report each, nothing lost when interrupted."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from grader.audit import audited
from grader.checks.verdicts import environment
from grader.intake import StagedSubmission, SubmissionRefused, stage, submission_id
from grader.judge import Task
from grader.kit import Kit
from grader.printable import printable
from grader.report import (
    Environment,
    GradeReport,
    ReportUnreadable,
    SubmissionInfo,
    read_report,
    write_atomically,
    write_report,
)
from grader.sandbox import Level
from grader.summary import Row, note_on, summary_csv

_JUDGE_START_S = 60.0
_WORK = ".work"
_OUR_NAMES = frozenset({"summary.csv", ".lock", _WORK})


class CohortRefused(ValueError):
    """The command as a whole makes no sense; one line says why and what to do."""


@dataclass(frozen=True)
class Order:
    """What to grade, how, and where reports go."""

    kit: Kit
    out: Path
    isolation: Level
    seed: bytes
    jobs: int
    only: tuple[str, ...] = ()

    @property
    def assignments(self) -> tuple[str, ...]:
        """Names of the assignments that are graded."""
        wanted = {exercise.split(".")[0] for exercise in self.only}
        return tuple(name for name in self.kit.available() if not wanted or name in wanted)


def cores() -> int:
    """Cores that this process may use: a container's share of CPU time counts, the host's number does not."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(usable, int(quota) // int(period)))
    except (OSError, ValueError):  # no cgroup v2, or "max": no share is set
        return usable


def grade(
    order: Order, submissions: Sequence[Path], on_row: Callable[[Row], None] = lambda row: None
) -> list[Row]:
    """Grade every submission that has no up-to-date report; write `out/<id>/report.json` and `out/summary.csv`.

    Returns:
        One row a submission, in the order given.

    Raises:
        CohortRefused: the output folder is in use, cannot be written, or is part of a submission.
    """
    order = replace(order, out=order.out.resolve())  # the judges work in another folder
    rows: dict[int, Row] = {}
    named: dict[int, str] = {}
    paths_of_name: dict[str, list[Path]] = {}
    for index, path in enumerate(submissions):
        try:
            name = submission_id(path)
        except SubmissionRefused as refusal:
            rows[index] = Row(printable(path.name or str(path)), None, str(refusal))
            continue
        if name.casefold() in _OUR_NAMES:
            rows[index] = Row(
                name,
                None,
                f"{name}: the grader has a file of that name in its output folder, rename the submission",
            )
            continue
        _refuse_reports_inside(path, order.out / name)
        named[index] = name
        paths_of_name.setdefault(name.casefold(), []).append(path)
    for index, name in list(named.items()):
        namesakes = [printable(str(path)) for path in paths_of_name[name.casefold()]]
        if len(namesakes) > 1:
            del named[index]
            rows[index] = Row(name, None, f"{name}: {' and '.join(namesakes)} have the same id, rename one")
    with _folder_of_our_own(order.out) as work:
        current = environment(order.isolation, order.kit, order.seed)
        with ThreadPoolExecutor(max_workers=max(1, order.jobs)) as pool:
            running = _Running()
            futures = {
                pool.submit(_row, order, name, submissions[index], work / f"{index}", current, running): index
                for index, name in named.items()
            }
            try:
                for future in as_completed(futures):
                    row = future.result()
                    rows[futures[future]] = row
                    on_row(row)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                running.kill()
                raise
        result = [rows[index] for index in sorted(rows)]
        write_atomically(order.out / "summary.csv", summary_csv(_all_rows(order.out, result)))
    return result


def _refuse_reports_inside(submission: Path, folder: Path) -> None:
    """A report that a student can write before the grading would be taken for an earlier grade.

    Raises:
        CohortRefused: reports would be written into the submission, or the submission lies where they go.
    """
    inside, folder = submission.resolve(), folder.resolve()
    if folder.is_relative_to(inside) or inside.is_relative_to(folder):
        raise CohortRefused(
            f"{printable(str(submission))}: reports would lie among what was handed in, choose another --out"
        )


def _row(
    order: Order, name: str, path: Path, scratch: Path, current: Environment, running: "_Running"
) -> Row:
    """One submission's row, whatever is wrong with the submission or with the place of its report."""
    try:
        return _grade_one(order, name, path, scratch, current, running)
    except SubmissionRefused as refusal:
        return Row(name, None, str(refusal))
    except OSError as error:
        where = f" {printable(str(error.filename))}" if error.filename else ""
        return Row(name, None, f"{name}: cannot be graded ({error.strerror or type(error).__name__}{where})")


def _grade_one(
    order: Order, name: str, path: Path, scratch: Path, current: Environment, running: "_Running"
) -> Row:
    report_path = order.out / name / "report.json"
    scratch.mkdir(parents=True)
    staged = stage(path, order.kit.editable(), scratch / "staged")
    before = _existing(report_path)
    if before is not None and _up_to_date(before, staged, current, order):
        return Row(name, before, note_on(before), fresh=False)
    info = SubmissionInfo(
        id=name, sha256=staged.sha256, files=staged.files, missing=staged.missing, notes=staged.notes
    )
    report = _run_judge(order, staged, info, scratch, current, running)
    if report.error and running.over:
        return Row(name, None, f"{name}: interrupted")
    if before is not None and _same_conditions(before, staged.sha256, current):
        if report.error:  # what was found out before still holds, and stays
            return Row(name, report, note_on(report))
        if order.only:
            report = _merged(before, report)
    report = report.model_copy(update={"review": audited(staged.root, staged.files)})
    write_report(report, report_path)
    shutil.rmtree(scratch, ignore_errors=True)
    return Row(name, report, note_on(report))


def _run_judge(
    order: Order,
    staged: StagedSubmission,
    info: SubmissionInfo,
    scratch: Path,
    current: Environment,
    running: "_Running",
) -> GradeReport:
    produced, log = scratch / "report.json", scratch / "judge.log"
    task = Task(
        kit=order.kit.root,
        solutions=order.kit.solutions,
        staged=staged.root,
        scratch=scratch,
        report=produced,
        info=info,
        isolation=order.isolation,
        seed_hex=order.seed.hex(),
        assignments=order.assignments,
        only=order.only,
        hide=tuple({order.kit.root, order.kit.solutions, order.out, *_home()}),
    )
    limit_s = _JUDGE_START_S + sum(
        spec.limits.submission_s + spec.limits.import_s
        for name, spec in order.kit.available().items()
        if name in order.assignments
    )
    with log.open("wb") as stream:
        judge = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.judge"],
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=stream,
            cwd=order.kit.root,
            env=_judge_environment(order.kit, scratch),
            start_new_session=True,
        )
    with running.registered(judge):
        why = ""
        try:
            assert judge.stdin is not None
            judge.stdin.write(task.model_dump_json().encode() + b"\n")
            judge.stdin.flush()
            judge.wait(timeout=limit_s)
        except (BrokenPipeError, ValueError):  # the judge is gone, or an interrupted grader hung up on it
            judge.wait()
        except subprocess.TimeoutExpired:
            why = f"the judge did not finish within {limit_s:.0f} s"
        finally:
            running.end(judge)
    try:
        return read_report(produced)
    except ReportUnreadable:
        if not why and judge.returncode < 0:
            why, tail = f"the judge was killed by signal {-judge.returncode}", ""
        else:
            why = why or f"the judge ended with exit code {judge.returncode} and no report"
            tail = printable(" ".join(log.read_text(errors="replace").strip().splitlines()[-3:]), 300)
        return GradeReport(
            kind="official", submission=info, environment=current, error=f"{why}: {tail}" if tail else why
        )


def _home() -> list[Path]:
    """The user's home; nothing where a service account's home is a system folder that Python itself needs."""
    home = Path.home().resolve()
    needed = (Path(sys.base_prefix).resolve(), Path("/usr"), Path("/lib"))
    return [] if any(folder == home for folder in needed) or home == Path("/") else [home]


def _judge_environment(kit: Kit, scratch: Path) -> dict[str, str]:
    """What a judge needs of the environment: no secret is in it, and nothing that steers pytest.

    Its temporary files lie in its scratch folder, which the cohort removes whatever happens to the judge.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV")
    }
    # python -P leaves the working folder out of sys.path; the kit's own folder is where specs and grader are
    return {
        **kept,
        "TMPDIR": str(scratch.resolve()),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(kit.root),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class _Running:
    """The judges that live now, so that an interrupted grader leaves none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._judges: list[subprocess.Popen[bytes]] = []
        self.over = False
        """True once the grader was interrupted: no judge's end says anything about a submission any more."""

    @contextlib.contextmanager
    def registered(self, judge: subprocess.Popen[bytes]) -> Iterator[None]:
        with self._lock:
            self._judges.append(judge)
        if self.over:
            self.end(judge)
        try:
            yield
        finally:
            with self._lock:
                self._judges.remove(judge)

    def end(self, judge: subprocess.Popen[bytes]) -> None:
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


def _hang_up(judge: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if judge.stdin is not None:
            judge.stdin.close()


@contextlib.contextmanager
def _folder_of_our_own(out: Path) -> Iterator[Path]:
    """The output folder, locked against a second grader, with an empty work folder in it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise CohortRefused(
            f"{printable(str(out))}: cannot be written ({error.strerror}), choose another folder with --out"
        ) from None
    with os.fdopen(descriptor) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CohortRefused(
                f"{printable(str(out))}: another grader is writing there, wait for it or choose another --out"
            ) from None
        work = out / _WORK
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            yield Path(tempfile.mkdtemp(dir=work))
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _existing(path: Path) -> GradeReport | None:
    try:
        return read_report(path)
    except ReportUnreadable:
        return None


def _up_to_date(before: GradeReport, staged: StagedSubmission, current: Environment, order: Order) -> bool:
    if not _same_conditions(before, staged.sha256, current):
        return False
    graded = {exercise.id for exercise in before.exercises}
    wanted = order.only or {
        f"{name}.{exercise.id}" for name, spec in order.kit.available().items() for exercise in spec.exercises
    }
    if any(check.outcome == "grader_error" for exercise in before.exercises for check in exercise.checks):
        return False
    return graded.issuperset(wanted)


def _same_conditions(before: GradeReport, sha256: str, current: Environment) -> bool:
    """True for a grade of the same files, by the same kit, seed and libraries."""
    return not before.error and before.submission.sha256 == sha256 and before.environment == current


def _merged(before: GradeReport, now: GradeReport) -> GradeReport:
    """A partial grading laid over an earlier one under the same conditions."""
    fresh = {exercise.id: exercise for exercise in now.exercises}
    kept = [fresh.pop(exercise.id, exercise) for exercise in before.exercises]
    only = tuple(dict.fromkeys((*before.only, *now.only))) if before.only else ()
    return now.model_copy(update={"exercises": (*kept, *fresh.values()), "only": only})


def _all_rows(out: Path, rows: Iterable[Row]) -> list[Row]:
    """This run's rows, then every other report in the folder."""
    result = list(rows)
    known = {row.id for row in result}
    for path in sorted(out.glob("*/report.json")):
        if path.parent.name not in known:
            report = _existing(path)
            if report is not None:
                result.append(Row(path.parent.name, report, note_on(report), fresh=False))
    return result
