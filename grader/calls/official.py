"""The runner of official gradings: confined workers for each assignment, the wire, the judge's own clock."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.calls.faults import (
    Crashed,
    Fault,
    NeedsTorch,
    NeedsTriton,
    Raised,
    RankDied,
    RanksHang,
    Tampered,
    TimedOut,
    Todo,
)
from grader.calls.runner import Lane, Request
from grader.calls.worker import PACKAGE, Worker
from grader.kit import Kit
from grader.sandbox import Level, Limits
from specs.assignment import Assignment
from specs.assignment import Limits as AssignmentLimits

# All answers of a submission to one assignment, as they lie in the judge's memory: tests and hints hold on to them.
ANSWERS_BYTES = 512 << 20
# Of their headers on the wire: lists, numbers, text. Putting them together takes a judge about a microsecond each; the
# reference solutions need half a million for the largest assignment.
ANSWERS_CHARACTERS = 4_000_000
# Forking and joining ranks takes 0.1 s on an idle core; on a busy one their own deadline waits (grader/ranks/team.py).
_AROUND_RANKS_S = 30.0
_PATIENCE_WITH_RANKS = 6.0
# Not measured with: they read evidence.
_THE_JUDGES_PART_OF_KERNELS = ("show.py", "signatures.py", "speed_of_light.py")


class SandboxedRunner:
    """Runs requests in confined workers; a worker that dies is replaced, a file that kills one at import is not."""

    def __init__(
        self,
        kit_view: Path,
        submission: Path,
        specs: Mapping[str, Assignment],
        level: Level,
        hide: Sequence[Path] = (),
        notes: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        bounded: bool = True,
        confirm: bool = True,
    ) -> None:
        """See Worker for `confirm`; `bounded` limits all answers to one assignment together."""
        self.isolation: str = level
        self._kit_view, self._submission, self._specs, self._level, self._hide = (
            kit_view,
            submission,
            specs,
            level,
            hide,
        )
        self._notes = notes  # what of the submission was not copied
        self._clock = clock
        self._confirm = confirm
        self._bounded = bounded
        self._workers: dict[tuple[str, Lane], Worker] = {}
        self._spent_s: dict[str, float] = {}
        self._answered_bytes: Counter[str] = Counter()  # by workers that have ended
        self._answered_characters: Counter[str] = Counter()
        self._broken_files: dict[tuple[str, Lane, str], Fault] = {}
        self._missing_lanes: dict[Lane, NeedsTorch | NeedsTriton] = {}
        self.output: dict[str, str] = {}
        """The end of what the submission printed, by assignment; for staff."""

    def require_file(self, assignment: str, file: str) -> None:
        """Raise Todo when the submission has no such file."""
        if not (self._submission / assignment / file).is_file():
            raise Todo(f"{assignment}/{file} was not handed in")

    def run(self, request: Request) -> Any:
        """Send one request and wait for its answer, no longer than the spec allows."""
        self.require_file(request.assignment, request.file)
        broken = self._broken_files.get((request.assignment, request.lane, request.file))
        if broken is not None:
            raise type(broken)(broken.message, hidden_message=broken.hidden_message)
        limits = self._specs[request.assignment].limits
        left_s = limits.submission_s - self._spent_s.get(request.assignment, 0.0)
        if left_s <= 0:
            raise TimedOut(f"not run: the submission used up its {limits.submission_s:g} s")
        self._refuse_more_answers(request.assignment)
        began = self._clock()
        try:
            worker = self._worker(request.assignment, request.lane)
            if request.file not in worker.loaded:
                self._load(worker, request, min(limits.import_s, left_s))
            call_s = limits.call_s
            if request.verb == "on_ranks":  # the worker itself keeps their deadline
                call_s = request.options["deadline_s"] * _PATIENCE_WITH_RANKS + _AROUND_RANKS_S
            return worker.ask(request.verb, request, min(call_s, left_s))
        except (RankDied, RanksHang):  # its ranks are gone, the worker lives on
            raise
        except (Crashed, TimedOut, Tampered):
            self._end(request.assignment, request.lane)
            raise
        finally:
            spent = self._clock() - began
            self._spent_s[request.assignment] = self._spent_s.get(request.assignment, 0.0) + spent

    def _refuse_more_answers(self, assignment: str) -> None:
        if not self._bounded:
            return
        alive = [worker for (name, _), worker in self._workers.items() if name == assignment]
        taken = self._answered_bytes[assignment] + sum(worker.answered_bytes for worker in alive)
        characters = self._answered_characters[assignment] + sum(each.answered_characters for each in alive)
        if taken > ANSWERS_BYTES:
            raise Raised(
                f"not run: what the submission returned is larger than {ANSWERS_BYTES >> 20} MiB in all"
            )
        if characters > ANSWERS_CHARACTERS:
            raise Raised(
                "not run: the lists, numbers and text that the submission returned have more than "
                f"{ANSWERS_CHARACTERS:,} characters in all; right answers need an eighth of that"
            )

    def close(self) -> None:
        """End every worker."""
        for assignment, lane in list(self._workers):
            self._end(assignment, lane)

    def _load(self, worker: Worker, request: Request, limit_s: float) -> None:
        try:
            worker.ask("load", request, limit_s)
        except Fault as fault:
            if not isinstance(fault, Raised):
                fault = type(fault)(f"while importing {request.file}: {fault.message}")
            self._broken_files[request.assignment, request.lane, request.file] = fault
            raise fault from None
        worker.loaded.add(request.file)

    def _worker(self, assignment: str, lane: Lane) -> Worker:
        if lane in self._missing_lanes:
            missing = self._missing_lanes[lane]
            raise type(missing)(missing.message)
        if (assignment, lane) not in self._workers:
            self._workers[assignment, lane] = self._start(self._specs[assignment].limits, lane)
        return self._workers[assignment, lane]

    def _start(self, limits: AssignmentLimits, lane: Lane) -> Worker:
        try:
            return Worker(
                self._kit_view,
                self._submission,
                self._level,
                Limits(
                    memory_bytes=limits.memory_bytes,
                    processes=limits.processes,
                    disk_bytes=limits.disk_bytes,
                    open_files=limits.open_files,
                    cpu_s=int(limits.submission_s * 4),
                    output_bytes=limits.output_bytes,
                ),
                self._hide,
                self._notes,
                lane,
                self._confirm,
            )
        except (NeedsTorch, NeedsTriton) as missing:
            self._missing_lanes[lane] = missing
            raise

    def _end(self, assignment: str, lane: Lane) -> None:
        worker = self._workers.pop((assignment, lane), None)
        if worker is not None:
            worker.close()
            self._answered_bytes[assignment] += worker.answered_bytes
            self._answered_characters[assignment] += worker.answered_characters
            self.output[assignment] = (self.output.get(assignment, "") + worker.confined.output())[-4000:]


def stage_kit(kit: Kit, into: Path) -> Path:
    """Copy what a worker may see: its own code, the code of specs, models, GPUs, recipes; no published value."""
    specs = kit.root / "specs"
    return stage(specs if specs.is_dir() else installed_specs(), into)


def installed_specs() -> Path:
    """The folder that `import specs` reads."""
    import specs as installed

    return Path(installed.__file__).resolve().parent


def stage(specs: Path, into: Path) -> Path:
    """Like `stage_kit`, for a `specs` folder."""
    view = into / "kit"
    package = Path(__file__).resolve().parent.parent
    junk = ("__pycache__", "*.pyc")
    shutil.copytree(package / "worker", view / PACKAGE, ignore=shutil.ignore_patterns(*junk))
    shutil.copytree(
        package / "kernels",
        view / PACKAGE / "kernels",
        ignore=shutil.ignore_patterns(*junk, *_THE_JUDGES_PART_OF_KERNELS),
    )
    shutil.copytree(package / "ranks", view / PACKAGE / "ranks", ignore=shutil.ignore_patterns(*junk))
    shutil.copytree(
        specs,
        view / "specs",
        ignore=shutil.ignore_patterns(
            "__pycache__", "*.pyc", "assignments", "published", "assignment.py", "published.py"
        ),
    )
    return view


def stage_baseline(kit_view: Path, into: Path, baseline: str, request: Request) -> tuple[Path, Path]:
    """What the process of a timed baseline sees: the kit's view with kernels_ref, and a file that stands for the
    submission's and takes its function from the module `baseline`.

    Returns:
        (kit view, submission folder), both below `into`.
    """
    view, root = into / "kit", into / "submission"
    junk = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(kit_view, view, ignore=junk)
    shutil.copytree(
        Path(__file__).resolve().parents[2] / "kernels_ref",
        view / "kernels_ref",
        ignore=junk,
        dirs_exist_ok=True,
    )
    file = root / request.assignment / request.file
    file.parent.mkdir(parents=True)
    file.write_text(f"from {baseline} import {request.function}\n", encoding="utf-8")
    return view, root
