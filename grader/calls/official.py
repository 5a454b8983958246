"""The runner of official gradings: a confined worker for each assignment, the wire, the judge's own clock."""

import contextlib
import json
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from grader.calls.faults import Crashed, Fault, Raised, Tampered, TimedOut, Todo
from grader.calls.runner import Request, missing_function, raised
from grader.kit import Kit
from grader.printable import printable
from grader.sandbox import Confined, Level, Limits, launch
from grader.worker import wire
from specs.assignment import Assignment

_WORKER = "_rooflab_worker"  # the staged package: no name that a student's helper has
_START_S = 30.0  # interpreter, specs and pydantic: 0.3 s on an idle core
# All answers of a submission to one assignment, as they lie in the judge's memory: tests and hints hold on to them.
_ANSWERS_BYTES = 512 << 20
_BYTES_PER_CHARACTER = 24  # an empty list is three characters on the wire and 64 bytes in memory


class _Error(TypedDict, total=False):
    type: str
    message: str
    frames: list[tuple[str, int, str]]
    is_todo: bool


class _Reply(TypedDict, total=False):
    id: str
    kind: str
    value: object
    importing: bool
    error: _Error
    message: str


_REPLY = TypeAdapter(_Reply)


class WorkerNotStarted(RuntimeError):
    """The confined interpreter did not come up: the machine's fault, before any student code ran."""


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
    ) -> None:
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
        self._workers: dict[str, _Worker] = {}
        self._spent_s: dict[str, float] = {}
        self._answers_bytes: dict[str, int] = {}
        self._broken_files: dict[tuple[str, str], Fault] = {}
        self.output: dict[str, str] = {}
        """The end of what the submission printed, by assignment; for staff."""

    def run(self, request: Request) -> Any:
        """Send one request and wait for its answer, no longer than the spec allows."""
        if not (self._submission / request.assignment / request.file).is_file():
            raise Todo(f"{request.assignment}/{request.file} was not handed in")
        broken = self._broken_files.get((request.assignment, request.file))
        if broken is not None:
            raise type(broken)(broken.message, hidden_message=broken.hidden_message)
        limits = self._specs[request.assignment].limits
        left_s = limits.submission_s - self._spent_s.get(request.assignment, 0.0)
        if left_s <= 0:
            raise TimedOut(f"not run: the submission used up its {limits.submission_s:g} s")
        if self._answers_bytes.get(request.assignment, 0) > _ANSWERS_BYTES:
            raise Raised(
                f"not run: what the submission returned is larger than {_ANSWERS_BYTES >> 20} MiB in all"
            )
        began = self._clock()
        try:
            worker = self._worker(request.assignment)
            if request.file not in worker.loaded:
                self._load(worker, request, min(limits.import_s, left_s))
            verb = "probe" if request.probe else "call"
            value = worker.ask(verb, request, min(limits.call_s, left_s))
            taken = self._answers_bytes.get(request.assignment, 0) + worker.last_answer_bytes
            self._answers_bytes[request.assignment] = taken
            return value
        except (Crashed, TimedOut, Tampered):
            self._end(request.assignment)
            raise
        finally:
            spent = self._clock() - began
            self._spent_s[request.assignment] = self._spent_s.get(request.assignment, 0.0) + spent

    def close(self) -> None:
        """End every worker."""
        for assignment in list(self._workers):
            self._end(assignment)

    def _load(self, worker: "_Worker", request: Request, limit_s: float) -> None:
        try:
            worker.ask("load", request, limit_s)
        except Fault as fault:
            if not isinstance(fault, Raised):
                fault = type(fault)(f"while importing {request.file}: {fault.message}")
            self._broken_files[request.assignment, request.file] = fault
            raise fault from None
        worker.loaded.add(request.file)

    def _worker(self, assignment: str) -> "_Worker":
        if assignment not in self._workers:
            limits = self._specs[assignment].limits
            self._workers[assignment] = _Worker(
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
            )
        return self._workers[assignment]

    def _end(self, assignment: str) -> None:
        worker = self._workers.pop(assignment, None)
        if worker is not None:
            worker.close()
            self.output[assignment] = (self.output.get(assignment, "") + worker.confined.output())[-4000:]


class _Worker:
    """One worker process and the judge's end of its wire."""

    def __init__(
        self,
        kit_view: Path,
        submission: Path,
        level: Level,
        limits: Limits,
        hide: Sequence[Path],
        notes: Sequence[str],
    ) -> None:
        self.loaded: set[str] = set()
        self.last_answer_bytes = 0
        self._submission = submission
        self._notes = notes
        self._ours, theirs = socket.socketpair()
        try:
            self.confined: Confined = launch(
                level,
                kit=kit_view,
                submission=submission,
                entry=f"{_WORKER}/serve.py",
                wire=theirs,
                limits=limits,
                hide=hide,
            )
        except BaseException:
            self._ours.close()
            raise
        try:
            wire.receive_frame(self._ours, time.monotonic() + _START_S)
        except wire.WireError as error:
            self.close()
            raise WorkerNotStarted(
                f"no worker came up ({error}): {printable(self.confined.output(), 300)}"
            ) from None

    def close(self) -> None:
        """Kill the worker and all its processes."""
        self._ours.close()
        self.confined.kill()

    def ask(self, verb: str, request: Request, limit_s: float) -> Any:
        """One round over the wire.

        Raises:
            Todo, Raised: the submission's own doing.
            Crashed, TimedOut, Tampered: the worker is of no use any more.
        """
        arguments, storages = (
            wire.encode((request.args, dict(request.kwargs))) if verb != "load" else (None, [])
        )
        question = {
            "id": secrets.token_hex(8),
            "verb": verb,
            "assignment": request.assignment,
            "file": request.file,
            "function": request.function,
            "probe": request.probe,
            "arguments": arguments,
        }
        deadline = time.monotonic() + limit_s
        try:
            wire.send_frame(self._ours, question, storages, deadline)
            header, received = wire.receive_frame(self._ours, deadline, wire.REPLY_CAPS)
            reply = _REPLY.validate_python(header, strict=False)
            if reply.get("id") != question["id"]:
                raise wire.WireTampered("an answer came that nobody asked for")
            self.last_answer_bytes = sum(map(len, received)) + _BYTES_PER_CHARACTER * len(json.dumps(header))
            return self._value(verb, request, reply, received)
        except wire.WireTimeout:
            raise self._death(TimedOut(f"took longer than {limit_s:g} s")) from None
        except wire.WireTruncated as error:
            raise self._death(Tampered(f"the process sent what no honest code sends: {error}")) from None
        except wire.WireClosed:
            raise self._death(Crashed(self._last_words())) from None
        except (wire.WireTampered, ValidationError) as error:
            reason = str(error) if isinstance(error, wire.WireTampered) else "an answer of the wrong form"
            raise Tampered(f"the process sent what no honest code sends: {printable(reason, 200)}") from None

    def _value(self, verb: str, request: Request, reply: _Reply, storages: list[bytearray]) -> Any:
        kind = reply.get("kind")
        if kind == "value" and "value" in reply and verb != "load":
            return wire.decode(reply["value"], storages)
        if kind == "loaded" and verb == "load":
            return None
        if kind == "tampered":
            raise Tampered("the submission changed the part of the grader that measures it")
        if kind == "no_function":
            raise Raised(missing_function(request))
        if kind == "unsendable":
            raise Raised(
                f"{request.function} {printable(reply.get('message', ''), 300)}",
                hidden_message=f"{request.function} returned something that cannot be sent",
            )
        if kind == "raised" and "error" in reply:
            raise raised(request, self._description(reply["error"]), importing=reply.get("importing", False))
        raise wire.WireTampered("an answer of no known kind")

    def _description(self, error: _Error) -> dict[str, Any]:
        """What the worker says of an exception, as far as it can be believed and printed.

        The source line is read here: a place that is not in the submission's files is no place.
        """
        place = []
        root = self._submission.resolve()
        for file, line, _ in error.get("frames", [])[-1:]:
            with contextlib.suppress(OSError, ValueError):
                path = (root / file).resolve()
                inside = path.is_relative_to(root) and path.is_file()
                lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if inside else []
                if 1 <= line <= len(lines):
                    place = [(printable(file, 100), line, printable(lines[line - 1].strip(), 200))]
        message = printable(error.get("message", ""), 500)
        if error.get("type") == "ModuleNotFoundError":
            message += _why_left_out(message, self._notes)
        return {
            "type": printable(error.get("type", "an exception"), 100),
            "message": message,
            "frames": place,
            "is_todo": error.get("is_todo", False),
        }

    def _death(self, otherwise: Fault) -> Fault:
        """The watchdog's reason where it killed the worker, else what it looked like from here."""
        self.confined.wait(0.5)
        because = self.confined.killed_because
        return Crashed(f"stopped: it used more than it may ({because})") if because else otherwise

    def _last_words(self) -> str:
        code = self.confined.wait(1.0)
        if code is None:
            return "it closed its connection to the grader"
        if code < 0 or code > 128:
            return f"the process died of signal {-code if code < 0 else code - 128}"
        return f"the process ended itself with exit code {code}"


def _why_left_out(message: str, notes: Sequence[str]) -> str:
    """The note on the module that `message` misses, in brackets; "" where there is none."""
    missed = re.fullmatch(r"No module named '([^']+)'", message)
    names = missed[1].split(".") if missed else []
    for note in notes:
        path, _, why = note.partition(": ")
        if path.rstrip("/").rpartition("/")[2].removesuffix(".py") in names and why.startswith("not copied"):
            return f" ({note})"
    return ""


def stage_kit(kit: Kit, into: Path) -> Path:
    """Copy what a worker may see: its own code, the code of specs, models, GPUs, recipes; no published value."""
    view = into / "kit"
    package = Path(__file__).resolve().parent.parent
    specs = kit.root / "specs"
    if not specs.is_dir():
        import specs as installed

        specs = Path(installed.__file__).resolve().parent
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(package / "worker", view / _WORKER, ignore=ignore)
    shutil.copytree(
        specs,
        view / "specs",
        ignore=shutil.ignore_patterns(
            "__pycache__", "*.pyc", "assignments", "published", "assignment.py", "published.py"
        ),
    )
    return view
