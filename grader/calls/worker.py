"""One worker process and the judge's end of its wire: what it answers is checked here before anybody believes it."""

import json
import re
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from grader.calls import wire_account
from grader.calls.evidence import (
    Metered,
    Sources,
    finding_fault,
    first_finding,
    read_evidence,
    read_launches,
)
from grader.calls.faults import (
    Crashed,
    Fault,
    NeedsGpu,
    NeedsTorch,
    NeedsTriton,
    Raised,
    Tampered,
    TimedOut,
    Todo,
)
from grader.calls.own_kernels import done_by_torch
from grader.calls.ranked import RankedCall, rank_fault, read_report
from grader.calls.recomputed import contradiction, differs_from_its_ptx
from grader.calls.runner import Lane, Request, missing_function, raised
from grader.kernels.evidence import CallEvidence, Place
from grader.printable import printable
from grader.ranks.wire_formulas import wire_bytes
from grader.sandbox import Confined, Level, Limits, launch
from grader.sandbox.loopback import loopback_bytes
from grader.worker import wire

PACKAGE = "_rooflab_worker"  # the staged package: no name that a student's helper has
_START_S = 30.0  # interpreter, specs and pydantic: 0.3 s on an idle core
_LANE_START_S = 90.0  # with torch and triton, and the interpreter mended and tried: 3 s on an idle core
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
    needs_gpu: str


_REPLY = TypeAdapter(_Reply)
_ERROR = TypeAdapter(_Error)


class WorkerNotStarted(RuntimeError):
    """The confined interpreter did not come up: the machine's fault, before any student code ran."""


class LaneBroken(RuntimeError):
    """What measures kernels failed itself: the kit's fault, and a check that meets it is pending."""


class Worker:
    """One worker process and the judge's end of its wire."""

    def __init__(
        self,
        kit_view: Path,
        submission: Path,
        level: Level,
        limits: Limits,
        hide: Sequence[Path],
        notes: Sequence[str],
        lane: Lane = "plain",
        confirm: bool = True,
        shared: int | None = None,
        devices: Sequence[Path] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start it and wait until it is ready; `confirm` assembles the PTX that it returns again.

        `shared` is a descriptor of memory for the outputs of timed calls; `devices` are those of a GPU, and `variables`
        say which of several it is.

        Raises:
            NeedsTriton, NeedsTorch: it can do nothing for its lane: what that needs is missing there or cannot be
                mended.
            WorkerNotStarted: it did not come up.
        """
        self.loaded: set[str] = set()
        self.answered_bytes = 0
        """Of all its answers, as they lie in the judge's memory."""
        self.answered_characters = 0
        """Of their headers: lists, numbers, text."""
        self.last_round_trip_s = 0.0
        """From the sending of the last question to the arrival of its answer, by the judge's clock."""
        self._sources = Sources(submission)
        self._confirm = confirm
        self._level = level
        self._carried_before: int | None = None
        self._notes = notes
        self._ours, theirs = socket.socketpair()
        try:
            self.confined: Confined = launch(
                level,
                kit=kit_view,
                submission=submission,
                entry=f"{PACKAGE}/serve.py",
                wire=theirs,
                limits=limits,
                hide=hide,
                argv=(
                    *(() if lane == "plain" else ("--lane", lane)),
                    *(() if shared is None else ("--shared", str(shared))),
                ),
                descriptors=() if shared is None else (shared,),
                devices=devices,
                variables=variables,
            )
        except BaseException:
            self._ours.close()
            raise
        try:
            start_s = _START_S if lane == "plain" else _LANE_START_S
            ready, _ = wire.receive_frame(self._ours, time.monotonic() + start_s)
        except wire.WireError as error:
            self.close()
            raise WorkerNotStarted(
                f"no worker came up ({error}): {printable(self.confined.output(), 300)}"
            ) from None
        if ready.get("problem"):
            self.close()
            problem = printable(str(ready["problem"]), 300)
            if lane == "ranks":
                raise NeedsTorch(f"ranks cannot be run here: {problem}")
            raise NeedsTriton(f"kernels cannot be run here: {problem}")

    def close(self) -> None:
        """Kill the worker and all its processes."""
        self._ours.close()
        self.confined.kill()

    def ask(self, verb: str, request: Request, limit_s: float) -> Any:
        """One round over the wire.

        Raises:
            Todo, Raised: the submission's own doing.
            Crashed, TimedOut, Tampered: the worker is of no use any more, but for RankDied and RanksHang.
        """
        if verb == "on_ranks":
            gathered = replace(request, args=(), kwargs={}, options={"size": len(request.args)})
            self.ask("assemble", gathered, limit_s)
            self._carried_before = self._carried_bytes()
        arguments, storages = (
            wire.encode((request.args, dict(request.kwargs), dict(request.options)))
            if verb != "load"
            else (None, [])
        )
        question: dict[str, wire.Json] = {
            "id": secrets.token_hex(8),
            "verb": verb,
            "assignment": request.assignment,
            "file": request.file,
            "function": request.function,
            "probe": request.probe,
            "metered": request.metered,
            "may_modify": list(request.may_modify),
            "arguments": arguments,
        }
        deadline = time.monotonic() + limit_s
        try:
            began_s = time.monotonic()
            wire.send_frame(self._ours, question, storages, deadline)
            header, received = wire.receive_frame(self._ours, deadline, wire.REPLY_CAPS)
            self.last_round_trip_s = time.monotonic() - began_s
            characters = len(json.dumps(header))
            self.answered_characters += characters
            self.answered_bytes += sum(map(len, received)) + _BYTES_PER_CHARACTER * characters
            reply = _REPLY.validate_python(header, strict=False)
            if reply.get("id") != question["id"]:
                raise wire.WireTampered("an answer came that nobody asked for")
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

    def _carried_bytes(self) -> int | None:
        """What the sandbox's loopback device has carried; None outside of a sandbox."""
        return loopback_bytes(self.confined.pid) if self._level == "sandbox" else None

    def _value(self, verb: str, request: Request, reply: _Reply, storages: list[bytearray]) -> Any:
        kind = reply.get("kind")
        if kind == "value" and "value" in reply and verb != "load":
            return wire.decode(reply["value"], storages)
        if kind == "recorded" and "value" in reply and verb != "load" and request.lane != "plain":
            return self._recorded(request, reply, wire.decode(reply["value"], storages))
        if kind == "loaded" and verb == "load":
            return None
        if kind == "tampered":
            raise Tampered("the submission changed the part of the grader that measures it")
        if (
            kind == "broken" and request.lane != "plain"
        ):  # where nothing of the kit's measures, nothing of it breaks
            raise LaneBroken(printable(reply.get("message", ""), 300))
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
        for file, line, _ in error.get("frames", [])[-1:]:
            if 1 <= line <= self._sources.text(file).count("\n") + 1:
                place = [(printable(file, 100), line, self._sources.line(file, line))]
        message = printable(error.get("message", ""), 500)
        if error.get("type") == "ModuleNotFoundError":
            message += _why_left_out(message, self._notes)
        return {
            "type": printable(error.get("type", "an exception"), 100),
            "message": message,
            "frames": place,
            "is_todo": error.get("is_todo", False),
        }

    def _recorded(self, request: Request, reply: _Reply, decoded: Any) -> Any:
        """The value and the evidence of a call in a lane, or the fault that the call is."""
        if not isinstance(decoded, tuple) or len(decoded) != 2:
            raise wire.WireTampered("a report of the wrong form")
        value, report = decoded
        if request.lane == "timed":
            if "error" in reply:
                raise raised(request, self._description(reply["error"]))
            return value
        if request.lane == "ranks":
            return self._ranked(request, value, report)
        launches = read_launches(report) if request.verb == "compiled" else ()
        evidence = read_evidence(report) if request.verb != "compiled" else CallEvidence()
        finding = first_finding(evidence, request.may_modify, raised_too="error" in reply)
        if finding is not None:
            raise finding_fault(request.function, finding, self._sources)
        if reply.get("needs_gpu"):
            raise NeedsGpu(
                printable(reply["needs_gpu"], 300),
                hidden_message="uses something that only a GPU can run",
            )
        if "error" in reply:
            raise raised(request, self._description(reply["error"]))
        if request.verb == "compiled":
            self._look_at(differs_from_its_ptx(launches) if self._confirm else "")
            if any(self._is_stub(launch.error_place) for launch in launches):
                raise Todo("")
            return launches
        if request.lane == "interpret":
            unearned = done_by_torch(
                request.function, request.verb, request.args, request.kwargs, value, evidence
            )
            if unearned is not None:
                raise unearned
        if request.metered:
            self._look_at(contradiction(evidence, request.kwargs))
        return Metered(value, evidence) if request.metered else value

    def _ranked(self, request: Request, values: Any, report: object) -> RankedCall | None:
        """What came of a call on ranks, or the fault that it is; None once they have assembled."""
        if "size" in request.options and report == b"":
            return None
        carried = self._carried_bytes()
        seen = read_report(report)
        fault = seen.fault
        if fault is not None and fault.kind == "raised" and fault.error is not None:
            raise raised(
                request, self._description(_ERROR.validate_python(fault.error.model_dump())), rank=fault.rank
            )
        if fault is not None and fault.kind == "unsendable":
            raise Raised(
                f"{request.function} on rank {fault.rank} {printable(fault.message, 300)}",
                hidden_message=f"{request.function} returned something that cannot be sent",
            )
        if fault is not None:
            raise rank_fault(request.function, fault, self._sources.line)
        size = len(request.args)
        if not isinstance(values, tuple) or {len(values), len(seen.collectives), len(seen.peak_bytes)} != {
            size
        }:
            raise wire.WireTampered("values of too few ranks")
        outside = None
        if self._level == "sandbox" and (carried is None or self._carried_before is None):
            raise LaneBroken("what the ranks sent over the sandbox's network could not be counted")
        if carried is not None and self._carried_before is not None:
            outside = carried - self._carried_before
            problem = wire_account.contradiction(seen.collectives, outside)
            if problem:
                raise Tampered(problem)
        return RankedCall(values, seen.collectives, wire_bytes(seen.collectives), outside, seen.peak_bytes)

    @staticmethod
    def _look_at(problem: str) -> None:
        if problem:
            raise wire.WireTampered(f"evidence with {problem}")

    def _is_stub(self, place: Place) -> bool:
        """Whether a kernel does not compile since its body is still the stub's."""
        return self._sources.line(place.file, place.line).startswith("raise NotImplementedError")

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
