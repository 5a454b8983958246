"""What the judge makes of a reply: bytes given to the judge's end of a wire, whose other end is no worker.

Whatever the bytes are, asking must end in a value or in one of the ways in which a check is lost. Anything else, an
exception of the kit's own above all, would leave points open or end the judge: `Broken`.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from grader.calls import worker as judges_end
from grader.calls.evidence import Sources
from grader.calls.faults import Fault
from grader.calls.runner import Request
from grader.checks.verdicts import _safe
from grader.worker import wire

ID = "0123456789abcdef"
"""The name of every question here."""
_LIMIT_S = 20.0
_MOST_BYTES = 150_000  # what a socket takes before anybody reads


class Broken(Exception):
    """The judge failed over a reply."""


def _request(**more: Any) -> Request:
    return Request("memory", "state.py", "state_bytes_per_parameter", **more)


REQUESTS: dict[str, Request] = {
    "call": _request(args=(1,)),
    "load": _request(),
    "interpret": _request(lane="interpret", metered=True, kwargs={"x": 1.0}),
    "compile": _request(lane="compile", verb="compiled", options={"target": "sm_90"}),
    "ranks": _request(lane="ranks", args=((1,), (2,)), options={"scenario": "call", "deadline_s": 1.0}),
}
"""By the way in which the judge asks."""


@dataclass(frozen=True)
class _Gone:
    """In place of a process: it has ended, with nothing said and no limit passed."""

    killed_because: str | None = None
    pid: int = 0

    def wait(self, timeout_s: float) -> int:
        return 0

    def kill(self) -> None:
        pass


@contextmanager
def _asking(submission: Path) -> Iterator[tuple[judges_end.Worker, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs, patch.object(judges_end, "secrets", SimpleNamespace(token_hex=lambda size: ID)):
        worker = judges_end.Worker.__new__(judges_end.Worker)
        vars(worker).update(
            loaded=set(),
            answered_bytes=0,
            answered_characters=0,
            confined=_Gone(),
            _sources=Sources(submission),
            _confirm=False,  # assembling PTX takes a tenth of a second; what assembles it has tests of its own
            _level="process",
            _carried_before=None,
            _notes=("memory/numpy.py: not copied, it has the name of a library",),
            _ours=ours,
        )
        yield worker, theirs


def judged(way: str, reply: bytes, submission: Path) -> str:
    """`value`, or the outcome that the reply costs its check.

    Raises:
        Broken: the judge raised something else, or what it would report cannot be shown.
    """
    request = REQUESTS[way]
    verb = "load" if way == "load" else request.verb
    with _asking(submission) as (worker, theirs):
        theirs.sendall(reply[:_MOST_BYTES])
        theirs.shutdown(socket.SHUT_WR)
        try:
            value = worker.ask(verb, request, _LIMIT_S)
            if way == "call":
                _compared(value)
            return "value"
        except Fault as fault:
            for message in (fault.message, fault.hidden_message):
                shown = _safe(message)
                if not shown.replace("\n", "").isprintable() or len(shown) > 12_100:
                    raise Broken(f"a message that cannot be shown: {shown[:80]!r}") from fault
            return str(fault.outcome)
        except judges_end.LaneBroken:
            return (
                "grader_error"  # what a worker says of its own kit: the check is pending, and staff are told
            )
        except Exception as error:
            raise Broken(f"{type(error).__name__}: {error}"[:200]) from error


def _compared(value: object) -> None:
    """What a check does with an answer before it looks at it: its canonical form, by which hints are found."""
    wire.canonical(value)
