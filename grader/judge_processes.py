"""The judges' processes: forked by a server that has imported everything already, or started from nothing."""

import contextlib
import itertools
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Protocol

from grader.printable import printable
from grader.sandbox import Level

_MESSAGE_BYTES = 1 << 12
_SERVER_START_S = 120.0
_LOOK_INTERVAL_S, _TELLING_S = 1.0, 10.0
"""How often it is looked whether a judge lives, and how long after its end the server may take to tell of it."""


class JudgeProcess(Protocol):
    """What is used of a judge's process; `subprocess.Popen` is one."""

    pid: int
    stdin: IO[bytes] | None
    """Its task goes in here; when it is closed, the judge ends."""
    returncode: int

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises subprocess.TimeoutExpired."""
        ...


class ServerLost(RuntimeError):
    """The server did not come up, or has ended; the text says what it said last."""


class ForkedJudge:
    """A judge that the server has forked: a grandchild, whose exit code the server tells."""

    def __init__(self, stdin: IO[bytes], give_up: Callable[[], None]) -> None:
        """`give_up` ends a server that does not tell what it should."""
        self.stdin: IO[bytes] | None = stdin
        self.pid = 0
        self.returncode = 0
        self.is_lost = False
        """True where it was ended because its server is gone."""
        self._give_up = give_up
        self.started, self.ended = threading.Event(), threading.Event()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it lives longer than that.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while not self.ended.wait(min(_LOOK_INTERVAL_S, max(0.0, deadline - time.monotonic()))):
            if _is_over(self.pid) and not self.ended.wait(_TELLING_S):
                self._give_up()
            elif time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("judge", timeout or 0.0)
        return self.returncode

    def lost(self) -> None:
        """Nobody can tell any more when it ends: end it now."""
        if self.pid and not self.ended.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self.returncode, self.is_lost = -signal.SIGKILL, True
        self.started.set()
        self.ended.set()


def _is_over(pid: int) -> bool:
    """Whether a process has ended; a zombie, which waits for its parent, has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


@dataclass(frozen=True)
class Setting:
    """What all judges of a cohort have in common."""

    kit: Path
    environment: Mapping[str, str]
    level: Level
    preload: Sequence[str] = ()
    """Libraries that a server imports for them."""
    mistakes: Sequence[Path] = ()
    """Assignments' folders of solutions, whose mistakes it imports."""


class Starter:
    """Starts the judges of one cohort, by a server where that is possible; a server that got lost is replaced."""

    def __init__(self, setting: Setting, folder: Path, *, by_server: bool = True) -> None:
        """`folder` is for the server, and made by it."""
        self._setting, self._folder, self._by_server = setting, folder, by_server
        self._server: Forkserver | None = None
        self._lock = threading.Lock()
        self._servers = itertools.count()

    def start(self, scratch: Path, log: IO[bytes]) -> tuple[JudgeProcess, Path | None]:
        """A judge, and the workers' view of the kit where it lies ready."""
        with contextlib.suppress(ServerLost):
            server = self._running()
            if server is not None:
                return server.start(scratch, log), server.view
        command = [sys.executable, "-P", "-m", "grader.judge"]
        judge = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=self._setting.kit,
            env={**self._setting.environment, "TMPDIR": str(scratch.resolve())},
            start_new_session=True,
        )
        return judge, None

    def close(self) -> None:
        """End the server."""
        with self._lock:
            if self._server is not None:
                self._server.close()
            self._server, self._by_server = None, False

    def _running(self) -> "Forkserver | None":
        """The server, started by whom needs it first.

        Raises:
            ServerLost: it does not come up, and will not be tried again.
        """
        with self._lock:
            if self._server is not None and self._server.gone:
                self._server.close()
                self._server = None
            if self._server is None and self._by_server:
                try:
                    self._server = Forkserver(self._setting, self._folder / str(next(self._servers)))
                except ServerLost as lost:
                    self._by_server = False
                    _say_that_none_comes_up(str(lost))
                    raise
            return self._server


@cache
def _say_that_none_comes_up(why: str) -> None:
    """Once a run, be it of several cohorts: their grades are the same, and take longer."""
    print(
        f"judges are started one by one, a second each, since none can be forked: {printable(why, 300)}",
        file=sys.stderr,
    )


class Forkserver:
    """A server of judges for one kit; several threads may ask it. What it imports is as the kit is when it starts."""

    def __init__(self, setting: Setting, folder: Path) -> None:
        """Start it and wait until it is ready; its log and the workers' view of the kit are in `folder`.

        Raises:
            ServerLost: it did not come up.
        """
        folder.mkdir(parents=True)
        self.view = folder / "kit"
        self._log = folder / "forkserver.log"
        self._judges: dict[int, ForkedJudge] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self.gone = False
        """True once it has ended."""
        self._server: subprocess.Popen[bytes] | None = None
        self._why = ""
        self._wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "grader.forkserver", "--wire", str(theirs.fileno())]
        command += ["--kit", str(setting.kit), "--view", str(folder), "--level", setting.level]
        command += ["--preload", *setting.preload, "--mistakes", *map(str, setting.mistakes)]
        self._is_ready = threading.Event()
        # The server ends with the thread that starts it (see there): one that lives as long as the server should.
        self._listener = threading.Thread(target=self._run, args=(command, setting, theirs), daemon=True)
        self._listener.start()
        self._is_ready.wait()
        if self.gone:
            self.close()
            raise ServerLost(self._last_words())

    def start(self, temporary: Path, log: IO[bytes]) -> ForkedJudge:
        """Fork a judge whose temporary files go to a folder of its own.

        Raises:
            ServerLost: there is no server any more.
        """
        read, write = os.pipe()
        stdin = os.fdopen(write, "wb")
        judge = ForkedJudge(stdin, self._kill)
        number = next(self._numbers)
        try:
            with self._lock:
                if self.gone:
                    stdin.close()
                    raise ServerLost(self._last_words())
                self._judges[number] = judge
                message = json.dumps({"number": number, "temporary": str(temporary.resolve())}).encode()
                with contextlib.suppress(OSError):  # it is gone: the listener says so
                    socket.send_fds(self._wire, [message], [read, log.fileno()])
        finally:
            os.close(read)
        if not judge.started.wait(_SERVER_START_S):  # stopped, by whom it may be: the listener sees it end
            self._kill()
            judge.started.wait()
        if not judge.pid:
            stdin.close()
            raise ServerLost(self._last_words())
        return judge

    def close(self) -> None:
        """End the server; judges that live end when their input does."""
        with contextlib.suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)
        self._listener.join()
        if self._server is not None:
            try:
                self._server.wait(timeout=10)  # the kernel ends it with the thread
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        self._wire.close()

    def _run(self, command: Sequence[str], setting: Setting, theirs: socket.socket) -> None:
        """Start the server, hand what it tells to the judges that it is about, until it is gone."""
        try:
            with theirs, self._log.open("wb") as log:
                self._server = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=setting.kit,
                    env=dict(setting.environment),
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            self._wire.settimeout(_SERVER_START_S)
            while message := self._next():
                self._told(json.loads(message))
        except OSError as error:
            self._why = str(error)
        finally:
            with self._lock:
                self.gone = True
            self._is_ready.set()
            for judge in self._judges.values():
                judge.lost()

    def _told(self, told: Mapping[str, int]) -> None:
        if "ready" in told:
            self._wire.settimeout(None)
            self._is_ready.set()
            return
        judge = self._judges[told["number"]]
        if "pid" in told:
            judge.pid = told["pid"]
            judge.started.set()
        else:
            judge.returncode = told["code"]
            judge.ended.set()

    def _next(self) -> bytes:
        """A message; empty where the server has ended, or does not come up."""
        try:
            return self._wire.recv(_MESSAGE_BYTES)
        except OSError:
            return b""

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines() if self._log.exists() else []
        return lines[-1] if lines else self._why or "it ended without a word"

    def _kill(self) -> None:
        if self._server is not None:
            self._server.kill()
