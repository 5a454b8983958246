"""Grades all variants of all cases in few cohorts with two controls each, and says what went otherwise."""

import compileall
import contextlib
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

import grader
from grader.cohort import Row, grade
from grader.judges import Order, starter
from grader.kit import Kit, find_kit
from grader.report import GradeReport
from grader.sandbox import Level, other_user
from tests.adversarial.case import STATE_BYTES, Case, Variant, right_text, write

SEED = b"adversarial suite: any 32 bytes."
JOBS = 2
"""Judges at a time of each of two cohorts: more than there are cores, for many submissions wait to be ended."""
HONEST, MISTAKEN = "control-honest", "control-mistaken"
_PARTS = ("specs", "kernels_ref", "grader", "solutions", "assignments", "pyproject.toml")
_MAX_MESSAGE_CHARACTERS = 2_000
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "flash_*.py")
"""The mistakes of flash_forward: running them all to explain a wrong kernel takes a minute, and no case asks why."""


@dataclass
class Graded:
    """All that is known after the cohorts ran."""

    rows: dict[str, Row] = field(default_factory=dict)
    """By `id_of` the variant."""
    alone: dict[tuple[str, str], GradeReport] = field(default_factory=dict)
    """The controls graded without neighbours, by (exercise, control)."""
    beside: dict[tuple[str, str], GradeReport] = field(default_factory=dict)
    """The same among attackers."""
    processes_left: list[str] = field(default_factory=list)
    shared_memory_left: list[str] = field(default_factory=list)
    temporary_left: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Files that were made, changed or removed outside of the output folders."""
    stray_output: list[str] = field(default_factory=list)
    """What is in the output folders beside reports and the summary."""
    took_s: float = 0.0


def id_of(case: Case, variant: Variant) -> str:
    """The submission's name, and so the report's."""
    return f"{case.name}-{variant.name}"


def grade_cases(cases: Sequence[Case], root: Path, level: Level = "sandbox", jobs: int = JOBS) -> Graded:
    """Grade all variants below `root`, an empty folder, in one cohort for each exercise that they ask for.

    Two cohorts are graded at a time, each with `jobs` judges; of several cohorts the longest, which ends last, has one
    more. The kit is copied first: all its files are accounted for, and editing it meanwhile disturbs nothing.
    """
    began = time.monotonic()
    kit = _copy_of_the_kit(root / "kit")
    graded = Graded()
    by_exercise: dict[str, list[tuple[str, Variant]]] = {}
    for case in cases:
        for variant in case.variants:
            by_exercise.setdefault(variant.exercise, []).append((id_of(case, variant), variant))
    sources, temporary = root / "submissions", root / "tmp"
    temporary.mkdir()
    controls = {
        HONEST: _honest(_new(sources / HONEST), kit),
        MISTAKEN: _mistaken(_new(sources / MISTAKEN), kit),
    }
    # The longest first, and two at a time: at the end of each its longest submission is alone, and often only waits.
    exercises = sorted(by_exercise, key=lambda name: -sum(each.takes_s for _, each in by_exercise[name]))
    everything = Order(kit, root, level, SEED, jobs, tuple(exercises))
    judges = starter(everything, root / "judges")
    built: dict[str, dict[str, Path]] = {}

    def alone(exercise: str) -> None:
        order = Order(kit, root / f"out-alone-{exercise}", level, SEED, jobs, (exercise,))
        for name, path in controls.items():
            graded.alone[exercise, name] = _report(grade(order, [path], judges=judges)[0])

    def together(exercise: str) -> None:
        is_last = exercise == exercises[0] and len(exercises) > 1
        order = Order(kit, root / f"out-{exercise}", level, SEED, jobs + is_last, (exercise,))
        everybody = built[exercise] | controls
        rows = grade(order, list(everybody.values()), judges=judges)
        for name, row in zip(everybody, rows, strict=True):
            if name in controls:
                graded.beside[exercise, name] = _report(row)
            else:
                graded.rows[name] = row
        graded.stray_output += _stray(order.out)

    with _temporary_folder(temporary), contextlib.closing(judges):
        shared_before = _shared_memory()
        with ThreadPoolExecutor(3) as pool:
            gradings = [pool.submit(alone, exercise) for exercise in exercises]
            for exercise, wanted in by_exercise.items():  # nobody's code runs yet but the controls'
                built[exercise] = {
                    name: variant.build(_new(sources / name), kit.solutions)
                    for name, variant in sorted(wanted, key=lambda one: -one[1].takes_s)
                }
            before = _snapshot(kit.root) | _snapshot(sources)
            for grading in gradings:
                grading.result()
        with ThreadPoolExecutor(2) as pool:
            for grading in [pool.submit(together, exercise) for exercise in exercises]:
                grading.result()
    graded.processes_left = _processes_of(root)
    graded.shared_memory_left = sorted(_shared_memory() - shared_before)
    graded.temporary_left = sorted(str(path.relative_to(temporary)) for path in temporary.rglob("*"))
    graded.temporary_left += sorted(map(str, Path("/tmp").glob(f"{other_user.NAMED}*")))
    after = _snapshot(kit.root) | _snapshot(sources)
    graded.changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    graded.took_s = time.monotonic() - began
    return graded


def problems(variant: Variant, row: Row) -> list[str]:
    """How the row differs from what the variant expects; empty when it does not."""
    expect, report = variant.expect, row.report
    if expect.refused:
        if report is not None or expect.refused not in row.note:
            return [f"expected a refusal with {expect.refused!r}, got {row.note!r}"]
        return []
    if report is None or report.error or not report.exercises:
        return [f"was not graded: {row.note}"]
    (exercise,) = report.exercises
    found = []
    if exercise.points != expect.points:
        found.append(f"earned {exercise.points:g} points, expected {expect.points:g}")
    if exercise.pending_points:
        found.append(f"left {exercise.pending_points:g} points pending")
    if exercise.outcome not in expect.outcome:
        found.append(f"is {exercise.outcome}, expected {' or '.join(expect.outcome)}")
    messages = [check.message for check in exercise.checks]
    if expect.says and not any(expect.says in message for message in messages):
        found.append(f"no message holds {expect.says!r}: {sorted(set(messages))}")
    if expect.never_in_hidden:
        hidden = [check.message for check in exercise.checks if check.hidden]
        if not hidden or any(expect.never_in_hidden in message for message in hidden):
            found.append(f"a hidden check says {expect.never_in_hidden!r}: {hidden}")
    for note in expect.notes:
        if not any(note in line for line in report.submission.notes):
            found.append(f"no note holds {note!r}: {report.submission.notes}")
    for message in (*messages, row.note):
        if len(message) > _MAX_MESSAGE_CHARACTERS or not message.replace("\n", "").isprintable():
            found.append(f"a message is too long or steers a terminal: {message[:80]!r}")
    return found


def untimed(report: GradeReport) -> GradeReport:
    """The report without what differs from run to run."""
    exercises = tuple(
        exercise.model_copy(
            update={
                "checks": tuple(check.model_copy(update={"duration_s": 0.0}) for check in exercise.checks)
            }
        )
        for exercise in report.exercises
    )
    return report.model_copy(update={"exercises": exercises, "started_at": "", "duration_s": 0.0})


def _report(row: Row) -> GradeReport:
    assert row.report is not None, row.note
    return row.report


def _honest(folder: Path, kit: Kit) -> Path:
    files = (
        "memory/state.py",
        "memory/checkpoint.py",
        "flash_attention/softmax.py",
        "flash_attention/norms.py",
        "flash_attention/forward.py",
        "sharding/cuts.py",
        "sharding/bubbles.py",
        "sharding/choice.py",
        "sharding/ring.py",
        "profiling/kernels.py",
        "profiling/intervals.py",
        "profiling/breakdown.py",
    )
    return write(folder, {file: (kit.solutions / file).read_text(encoding="utf-8") for file in files})


def _mistaken(folder: Path, kit: Kit) -> Path:
    """The mistake `no_master_copy` as a student would hand it in."""
    return write(folder, {"memory/state.py": right_text(kit.solutions).replace("_size(recipe.master)", "0")})


def _copy_of_the_kit(to: Path) -> Kit:
    original = Path(grader.__file__).resolve().parent.parent
    to.mkdir()
    for part in _PARTS:
        if (original / part).is_dir():
            shutil.copytree(original / part, to / part, ignore=_NOT_COPIED)
        else:
            shutil.copy2(original / part, to / part)
    compileall.compile_dir(to, quiet=2)  # as in a kit that was used before: judges write none
    return find_kit(to)


def _shared_memory() -> set[str]:
    """Files in shared memory, and System V segments, of this machine."""
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {str(path) for path in Path("/dev/shm").rglob("*")} | {line.split()[1] for line in segments}


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@contextmanager
def _temporary_folder(folder: Path) -> Iterator[None]:
    """Let judges make temporary files in `folder`; it also marks them, since it is in their environment."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        del os.environ["TMPDIR"]
        if before is not None:
            os.environ["TMPDIR"] = before


def _snapshot(folder: Path) -> Mapping[str, str]:
    """Path to kind and content of all that is below."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            status = path.lstat()
            content = ""
            if stat.S_ISREG(status.st_mode) and 0 < status.st_size <= 1 << 24:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = f"{status.st_mode:o} {status.st_size if files else 0} {content}"
    return found


def _stray(out: Path) -> list[str]:
    known = {"summary.csv", ".lock", "report.json"}
    return sorted(
        str(path.relative_to(out)) for path in out.rglob("*") if path.name not in known and not path.is_dir()
    )


def _processes_of(root: Path, patience_s: float = 3.0) -> list[str]:
    """Processes that belong to gradings below `root`: judges, sandboxes, what has their files mounted."""
    deadline = time.monotonic() + patience_s
    while (found := _processes_now(root)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _processes_now(root: Path) -> list[str]:
    mark, found = str(root), []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            told = [*process.cmdline(), *process.environ().values()]
            of_a_worker = process.uids().real in other_user.UIDS
            mounts = Path(f"/proc/{process.pid}/mountinfo").read_text()
        except (psutil.Error, OSError):
            continue
        if of_a_worker or any(mark in text for text in told) or mark in mounts:
            found.append(f"{process.pid} {' '.join(told)[:120]}")
    return found


__all__ = ["HONEST", "MISTAKEN", "STATE_BYTES", "Graded", "grade_cases", "id_of", "problems", "untimed"]
