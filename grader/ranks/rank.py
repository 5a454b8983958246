"""One rank: joins the group, runs the scenario with its own arguments, tells what comes of it, and never returns."""

import contextlib
import faulthandler
import gc
import os
import signal
import socket
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from . import group, memory, works

if TYPE_CHECKING:
    from grader.worker import load, wire
else:  # staged, that package is around this one
    from .. import load, wire

WHERE = getattr(signal, "SIGUSR2", None)
"""The signal at which a rank writes down where it is."""


def main(
    rank: int,
    size: int,
    folder: str,
    talk: socket.socket,
    student: Any,
    root: Path,
    scenarios: dict[str, types.ModuleType],
    changed: Callable[[], bool],
) -> NoReturn:
    """Be rank `rank` of `size`, in a process of its own, until the watcher ends it.

    Args:
        folder: of the ranks' store and notes.
        talk: to the watcher, in frames of the wire.
        student: function or class of the student's file.
        root: the submission.
        scenarios: by name.
        changed: whether the code that measures was changed.
    """
    with contextlib.suppress(BaseException):  # whatever the student's code raises at the very end
        _Rank(rank, size, folder, talk, root, changed).work(student, scenarios)
    sys.stdout.flush()
    os._exit(0)


class _Rank:
    def __init__(
        self, rank: int, size: int, folder: str, talk: socket.socket, root: Path, changed: Callable[[], bool]
    ) -> None:
        self._rank, self._size, self._folder, self._talk = rank, size, folder, talk
        self._root, self._changed = root, changed
        self._lock = threading.Lock()

    def work(self, student: Any, scenarios: dict[str, types.ModuleType]) -> None:
        torch.set_num_threads(1)
        torch.default_generator.manual_seed(self._rank)  # torch.manual_seed would ask for CUDA
        if WHERE is not None:
            notes = open(os.path.join(self._folder, f"where-{self._rank}"), "w")  # noqa: SIM115  # open to the end
            faulthandler.register(WHERE, file=notes, all_threads=False)
        live: list[memory.LiveTensors] = []

        def look() -> None:
            for watched in live:
                watched.look()

        teller = works.Teller(self._tell, look)
        try:
            world = group.join(self._rank, self._size, os.path.join(self._folder, "store"), teller)
        except Exception as error:  # gloo finds no loopback device, say: the machine's fault
            self._tell({"event": "broken", "message": f"{type(error).__name__}: {error}"[:300]})
            return
        self._tell({"event": "ready"})
        header, storages = wire.receive_frame(self._talk)
        given: Any = wire.decode(header["given"], storages)
        args, kwargs = given
        run = scenarios[str(header["scenario"])].run
        gc.freeze()  # a collection would walk through all of PyTorch, and copy its pages to look at them
        sent: list[bytes] = []
        end: dict[str, Any]
        try:
            with memory.watched(args, kwargs) as watched:
                live.append(watched)
                value = run(student, world, *args, **kwargs)
            encoded, sent = wire.encode(_detached(value))
            end = {"event": "returned", "value": encoded, "peak_bytes": watched.peak_bytes}
        except wire.Unsendable as error:
            end = {"event": "unsendable", "message": str(error)[:300]}
        except BaseException as error:  # the student's code may raise anything
            end = {"event": "raised", "error": load.describe_exception(error, self._root)}
        if self._changed() or teller.misused:
            end, sent = {"event": "tampered"}, []
        self._tell(end, sent)
        sys.stdout.flush()
        with contextlib.suppress(wire.WireError):
            wire.receive_frame(
                self._talk
            )  # never comes: others may still need this rank's half of a connection

    def _tell(self, event: dict[str, Any], storages: Any = ()) -> None:
        try:
            with self._lock:
                wire.send_frame(self._talk, event, storages, caps=wire.REPLY_CAPS)
        except wire.Unsendable as error:
            if event["event"] == "begins":
                raise
            with self._lock:
                wire.send_frame(self._talk, {"event": "unsendable", "message": str(error)[:300]})


def _detached(value: Any) -> Any:
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        return value.detach()
    if type(value) in (list, tuple):
        return type(value)(_detached(part) for part in value)
    if type(value) is dict:
        return {name: _detached(part) for name, part in value.items()}
    return value
