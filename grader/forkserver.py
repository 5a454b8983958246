"""Forks judges: imports once what every judge imports, a second of work, and is a judge's parent for nothing else.

Started by `grader.judge_processes` with a clean environment; it never sees a submission. What it is asked for comes as
messages on a socket, each with the two descriptors that become the judge's standard input and its output. What it says:
that a judge has started, with its process id, and that it has ended, with its exit code. It ends with the grader.
"""

import argparse
import compileall
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import get_args

from grader import judge
from grader.calls.official import stage_kit
from grader.checks.mistakes import load_mistakes
from grader.kit import check_specs, find_kit
from grader.sandbox import Level, available
from grader.sandbox.tree import end_with_parent, lock_own_memory

_MESSAGE_BYTES = 1 << 16
MANY_JUDGES = 4
"""The judge before which mistakes are imported for all that follow: two seconds at most, to save each a tenth."""


def main() -> int:
    """Serve until the grader hangs up; in a forked child be a judge, and end with its exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--wire", type=int, required=True, help="descriptor of the socket to the grader")
    parser.add_argument("--kit", type=Path, required=True)
    parser.add_argument(
        "--view", type=Path, required=True, help="where to put what workers may see of the kit"
    )
    parser.add_argument(
        "--level", choices=get_args(Level), required=True, help="what the judges start workers at"
    )
    parser.add_argument("--preload", nargs="*", default=[], help="libraries that the judges will import")
    parser.add_argument(
        "--mistakes", nargs="*", type=Path, default=[], help="solutions/<assignment> of what they judge"
    )
    told = parser.parse_args()
    end_with_parent()  # also where somebody has stopped this process
    _compile(stage_kit(find_kit(told.kit), told.view))
    check_specs()  # they stay read
    for library in told.preload:
        with contextlib.suppress(ImportError):  # a judge that needs it says so
            importlib.import_module(library)
    # Tried once, not by each judge; they try again where it fails.
    if told.level == "sandbox" and not available().ok:
        available.cache_clear()
    if told.level == "process":
        lock_own_memory()  # of workers of the same user
    _freeze()
    with socket.socket(fileno=told.wire) as wire:
        is_judge = _serve(wire, told.mistakes)
    if not is_judge:
        return 0
    try:
        code = judge.main()
    except BaseException:  # what a judge dies of is told in its log, and no report is
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the report is written: taking the interpreter down would take a tenth of a second


def _compile(view: Path) -> None:
    """Byte code beside the sources, for workers that could not write it: they would compile everything each time."""
    compileall.compile_dir(view, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)


def _freeze() -> None:
    """What is imported stays: no judge has to look through it again."""
    gc.collect()
    gc.freeze()


def _import_mistakes(folders: Sequence[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(Exception):  # a broken one is said by the judge that needs it
            load_mistakes(folder.parent, folder.name, [])
    _freeze()


def _serve(wire: socket.socket, mistakes: Sequence[Path]) -> bool:
    """True in a child that is to be a judge, False once the grader has hung up."""
    judges = 0
    asked_as: dict[int, int] = {}
    """Living judges: process id to the number that the grader gave it."""
    woken, waker = socket.socketpair()
    with woken, waker, selectors.DefaultSelector() as waiting:
        waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno())
        waiting.register(wire, selectors.EVENT_READ)
        waiting.register(woken, selectors.EVENT_READ)
        wire.send(json.dumps({"ready": True}).encode())
        while True:
            ready = [key.fileobj for key, _ in waiting.select()]
            if woken in ready:
                woken.recv(_MESSAGE_BYTES)
                _bury(wire, asked_as)
            if wire in ready:
                message, descriptors, _, _ = socket.recv_fds(wire, _MESSAGE_BYTES, 2)
                if not message:
                    return False
                question = json.loads(message)
                judges += 1
                if judges == MANY_JUDGES:
                    _import_mistakes(mistakes)
                alone, becomes = os.pipe()
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _become_a_judge(question["temporary"], *descriptors)
                    os.close(alone)
                    os.close(becomes)
                    return True
                for descriptor in (becomes, *descriptors):
                    os.close(descriptor)
                # Ends with a session of the child's own: from then on its group can be killed.
                os.read(alone, 1)
                os.close(alone)
                asked_as[child] = question["number"]
                wire.send(json.dumps({"number": question["number"], "pid": child}).encode())


def _bury(wire: socket.socket, asked_as: dict[int, int]) -> None:
    """Tell of every judge that has ended."""
    while asked_as:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        wire.send(json.dumps({"number": asked_as.pop(child), "code": code}).encode())


def _become_a_judge(temporary: str, task: int, log: int) -> None:
    """A session, standard descriptors and a folder for temporary files of its own."""
    os.setsid()
    for descriptor, standard in ((task, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, standard)
    for descriptor in {task, log}:
        os.close(descriptor)
    os.environ["TMPDIR"] = temporary
    tempfile.tempdir = None  # it was looked up for the server


if __name__ == "__main__":
    sys.exit(main())
