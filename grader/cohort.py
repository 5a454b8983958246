"""Grades many submissions side by side: one judge process each, one report each, nothing lost when interrupted."""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from grader.attempts import (
    earlier_verdicts,
    to_be_timed_again,
    with_what_was_decided,
    without_unmeasured,
)
from grader.audit import audited
from grader.checks.verdicts import environment
from grader.clock.grading import ATTEMPTS
from grader.clock.verdict import TimingVerdict
from grader.intake import StagedSubmission, SubmissionRefused, stage, submission_id
from grader.judge_processes import Starter
from grader.judges import Order, Running, run_judge, starter
from grader.printable import printable, printable_path
from grader.report import (
    Environment,
    GradeReport,
    ReportUnreadable,
    SubmissionInfo,
    read_report,
    write_atomically,
    write_report,
)
from grader.summary import Row, note_on, summary_csv

BEFORE = "report.before.json"
"""Beside a report that says why nothing could be graded: the report of what was handed in before."""
_WORK = ".work"
_OUR_NAMES = frozenset({"summary.csv", ".lock", _WORK})


class CohortRefused(ValueError):
    """The command as a whole makes no sense; one line says why and what to do."""


def cores() -> int:
    """Cores that this process may use: a container's share of CPU time counts, the host's number does not."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(usable, int(quota) // int(period)))
    except (OSError, ValueError):  # no cgroup v2, or "max": no share is set
        return usable


def grade(
    order: Order,
    submissions: Sequence[Path],
    on_row: Callable[[Row], None] = lambda row: None,
    judges: Starter | None = None,
) -> list[Row]:
    """Grade every submission that has no up-to-date report; write `out/<id>/report.json` and `out/summary.csv`.

    The report of a refused submission says why. The grade that it had before no longer counts and is kept as BEFORE.

    `judges` starts the judges of several cohorts of one kit, and is its owner's to close; without it there is one for
    this cohort.

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
    with _folder_of_our_own(order.out) as work:
        current = environment(order.isolation, order.kit, order.seed)
        for index, name in list(named.items()):
            namesakes = [printable(str(path)) for path in paths_of_name[name.casefold()]]
            if len(namesakes) > 1:
                del named[index]
                why = f"{name}: {' and '.join(namesakes)} have the same id, rename one"
                rows[index] = _refused(order, name, why, current)
        with ThreadPoolExecutor(max_workers=max(1, order.jobs)) as pool:
            running = Running(judges or starter(order, work))
            waiting = dict(named)
            try:
                for attempt in range(ATTEMPTS):
                    futures = {
                        pool.submit(
                            _row,
                            order,
                            name,
                            submissions[index],
                            work / f"{index}-{attempt}",
                            current,
                            running,
                        ): index
                        for index, name in waiting.items()
                    }
                    for future in as_completed(futures):
                        row = future.result()
                        earlier = rows.get(futures[future])
                        rows[futures[future]] = replace(row, fresh=earlier is not None or row.fresh)
                        if earlier is None:
                            on_row(row)
                    # Whose speed nobody could tell waits until all others are through: a neighbour may be gone then.
                    waiting = {
                        index: name for index, name in waiting.items() if _wants_more(order, rows[index])
                    }
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                running.kill()
                raise
            finally:
                if judges is None:
                    running.starter.close()
        result = [rows[index] for index in sorted(rows)]
        write_atomically(order.out / "summary.csv", summary_csv(_all_rows(order.out, result)))
    return result


def _wants_more(order: Order, row: Row) -> bool:
    return row.report is not None and any(
        check.timing is not None and check.timing.next == "requeue"
        for exercise in row.report.exercises
        for check in exercise.checks
        if order.clock is not None and (not order.only or exercise.id in order.only)
    )


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


def _row(order: Order, name: str, path: Path, scratch: Path, current: Environment, running: Running) -> Row:
    """One submission's row, whatever is wrong with the submission or with the place of its report."""
    try:
        return _grade_one(order, name, path, scratch, current, running)
    except SubmissionRefused as refusal:
        return _refused(order, name, str(refusal), current, path)
    except OSError as error:
        return _fault(order, name, error)


def _refused(order: Order, name: str, why: str, current: Environment, path: Path | None = None) -> Row:
    """The row of a submission that is not graded, and a report that says so, for the exports read only reports.

    Students read the report's reason: of `path` it has the name and not where it lies.
    """
    folder = order.out / name
    before = _existing(folder / "report.json")
    counted = before is not None and not before.error
    report = GradeReport(
        kind="official",
        submission=SubmissionInfo(id=name),
        environment=current,
        error=(why.replace(printable_path(path), printable(path.name)) if path else why).removeprefix(
            f"{name}: "
        ),
        only=order.only,
    )
    try:
        if counted:
            write_atomically(folder / BEFORE, (folder / "report.json").read_bytes())
        write_report(report, folder / "report.json")
    except OSError as error:
        return _fault(order, name, error)
    return Row(name, None, why, displaced=counted)


def _fault(order: Order, name: str, error: OSError) -> Row:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    place = error.filename or (order.out if full else "")  # temporary files lie below --out too
    where = f": {printable(str(place))}" if place else ""
    return Row(name, None, f"{name}: cannot be graded ({error.strerror or type(error).__name__}{where})")


def _grade_one(
    order: Order, name: str, path: Path, scratch: Path, current: Environment, running: Running
) -> Row:
    report_path = order.out / name / "report.json"
    scratch.mkdir(parents=True)
    staged = stage(path, order.kit.editable(), scratch / "staged")
    before = holds = _existing(report_path)
    earlier: dict[str, TimingVerdict] = {}
    again: tuple[str, ...] = ()
    if before is not None and _up_to_date(before, staged, current, order):
        # A run that times nothing takes no time back.
        takes_back = order.clock is not None and not order.accept_unmeasured
        holds = without_unmeasured(before) if takes_back else before
        again = to_be_timed_again(holds, order.clock is not None, order.only)
        if not again:
            return Row(name, before, note_on(before), fresh=False)
        order, earlier = replace(order, only=again), earlier_verdicts(holds, again)
    info = SubmissionInfo(
        id=name, sha256=staged.sha256, files=staged.files, missing=staged.missing, notes=staged.notes
    )
    report = run_judge(order, staged, info, scratch, current, running, earlier)
    if report.error and running.over:
        return Row(name, None, f"{name}: interrupted")
    if before is not None and _same_conditions(before, staged.sha256, current):
        if report.error and again:
            return Row(
                name, before, f"{note_on(before)}; could not be timed again: {report.error}".lstrip("; ")
            )
        if report.error:  # what was found out before still holds, and stays
            return Row(name, report, note_on(report))
        if order.only:
            report = _merged(before, with_what_was_decided(holds or before, report, again))
    report = report.model_copy(update={"review": audited(staged.root, staged.files)})
    write_report(report, report_path)
    shutil.rmtree(scratch, ignore_errors=True)
    return Row(name, report, note_on(report))


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
            # Closing alone unlocks nothing while a process that another thread starts still has a copy of it.
            fcntl.flock(lock, fcntl.LOCK_UN)


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
    checks = [check for exercise in before.exercises for check in exercise.checks]
    if any(check.outcome == "grader_error" and check.timing is None for check in checks):
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
