"""A stand-in for the worker: the `start` fixture runs a few lines of Python confined.

Each test really starts a worker. Where bubblewrap cannot start, the tests of the sandbox fail and say why: a
machine that runs them can grade with them.
"""

import json
import shutil
import socket
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from grader.sandbox import Confined, Level, Limits, launch
from grader.worker import limits as worker_limits

# What every stand-in starts with, as serve.py does: the limits first, then the wire.
PRELUDE = """
import ctypes, errno, json, os, signal, socket, sys, threading, time
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from worker import limits
told = dict(zip(sys.argv[1::2], sys.argv[2::2]))
limits.apply(told["--limits"])
wire = socket.socket(fileno=int(told["--wire"]))
def say(value): wire.sendall(json.dumps(value).encode() + b"\\n")
def error_of(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, "other")
def stay():
    while True: time.sleep(60)
def fork_for_ever():
    while True:
        try:
            os.fork()
        except OSError:
            pass
"""


@dataclass
class Worker:
    """A launched worker with the judge's end of its wire, and the word that marks its processes."""

    confined: Confined
    wire: socket.socket
    mark: str

    def hear(self, timeout_s: float = 10.0) -> Any:
        """The next line that the worker says."""
        self.wire.settimeout(timeout_s)
        line = b""
        while not line.endswith(b"\n"):
            part = self.wire.recv(1 << 16)
            assert part, f"the worker ended: {self.confined.killed_because} {self.confined.output()}"
            line += part
        return json.loads(line)

    def killed_because(self, timeout_s: float = 30.0) -> str:
        """Why the watchdog ended it, once it has ended."""
        assert self.confined.wait(timeout_s) is not None, "the worker still runs"
        return str(self.confined.killed_because)

    def processes(self) -> list[int]:
        """Its processes on this machine, zombies apart."""
        return processes_marked(self.mark)

    def is_gone(self, timeout_s: float = 5.0, quiet_s: float = 0.25) -> bool:
        """Whether none of its processes is seen for `quiet_s` in a row, in time.

        One look is not enough: of a chain whose links fork and end, it may find none of those that live.
        """
        deadline = time.monotonic() + timeout_s
        last_seen = time.monotonic()
        while time.monotonic() < last_seen + quiet_s:
            if self.processes():
                last_seen = time.monotonic()
                if last_seen > deadline:
                    return False
            time.sleep(0.01)
        return True


def processes_marked(mark: str) -> list[int]:
    """Process numbers whose command line, which a fork inherits, carries the mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in " ".join(process.cmdline()):
                found.append(process.pid)
        except (psutil.ZombieProcess, psutil.NoSuchProcess):
            continue
    return found


@pytest.fixture
def marked() -> Callable[[str], list[int]]:
    """The processes of a worker that another process launched."""
    return processes_marked


@pytest.fixture(params=["sandbox", "process"])
def level(request: pytest.FixtureRequest) -> Level:
    """The test holds at both levels."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def stage(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a kit whose serve.py is the given code, and a submission beside it; returns the kit's folder."""

    def write(code: str) -> Path:
        kit = tmp_path / "kit"
        (kit / "worker").mkdir(parents=True, exist_ok=True)
        (tmp_path / "submission").mkdir(exist_ok=True)
        (tmp_path / "submission" / "state.py").write_text("answer = 42\n")
        shutil.copy(worker_limits.__file__, kit / "worker" / "limits.py")
        entry, text = kit / "worker" / "serve.py", PRELUDE + textwrap.dedent(code)
        if not entry.exists() or entry.read_text() != text:  # another worker may be reading the same
            entry.write_text(text)
        return kit

    return write


@pytest.fixture
def start(tmp_path: Path, stage: Callable[[str], Path]) -> Iterator[Callable[..., Worker]]:
    """Starts workers with the given code; afterwards no process of any of them may be left."""
    workers: list[Worker] = []
    before = set(psutil.Process().children())

    def starter(code: str, level: Level = "sandbox", limits: Limits | None = None, **options: Any) -> Worker:
        judge_end, worker_end = socket.socketpair()
        mark = uuid.uuid4().hex
        confined = launch(
            level,
            kit=stage(code),
            submission=tmp_path / "submission",
            entry="worker/serve.py",
            wire=worker_end,
            limits=limits,
            argv=("--mark", mark),
            **options,
        )
        workers.append(Worker(confined, judge_end, mark))
        return workers[-1]

    yield starter
    for worker in workers:
        worker.confined.kill()
        worker.wire.close()
    assert not [worker.mark for worker in workers if worker.processes()]
    assert set(psutil.Process().children()) <= before, "not even a zombie is left"
