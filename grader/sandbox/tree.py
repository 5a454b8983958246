"""All processes that descend from one worker: finding them, what they use, and ending them.

A process whose parent dies goes to the nearest ancestor that adopts orphans. The judge makes itself that
ancestor and knows an orphan by its session: the worker starts in one of its own, and no process can go back
to the session that it left.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

_LINUX = sys.platform.startswith("linux")
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h
# The kernel's own list of children: reading one tree costs 0.1 ms, reading all processes 2 ms and up.
_HAS_CHILDREN_FILES = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

spawning = threading.RLock()
"""Hold it while starting a worker and making its `Tree`, lest another tree takes the worker for an orphan."""
_trees: list["Tree"] = []


@dataclass(frozen=True, slots=True)
class Process:
    """One look at one process. `pid` and `started` together name it: numbers are used again."""

    pid: int
    parent_pid: int
    session: int
    started: int
    zombie: bool
    """Ended with all its threads, and not waited for."""
    stopped: bool
    """By a signal, until another one lets it go on."""
    resident_bytes: int
    threads: int
    cpu_s: float
    """Its own time and that of the children that it has waited for."""


def look_up(pid: int) -> Process | None:
    """Return the process, or None when there is none."""
    if not _LINUX:
        return _look_up_portably(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # proc(5): the name, field 2, may hold blanks and parentheses; field 3 follows the last parenthesis.
    field = text[text.rindex(b")") + 2 :].split()
    if field[0] == b"X":
        return None
    threads = int(field[17])
    living = field
    if field[0] == b"Z" and threads > 1:
        # Its first thread has ended and others go on: it runs, and what it uses stands with one of them.
        living = _thread_that_lives(pid) or field
    return Process(
        pid=pid,
        parent_pid=int(field[1]),
        session=int(field[3]),
        started=int(field[19]),
        zombie=living[0] == b"Z",
        stopped=living[0] in (b"T", b"t"),
        resident_bytes=int(living[21]) * _PAGE_BYTES,
        threads=threads,
        cpu_s=sum(map(int, field[11:15])) / _TICKS_PER_S,
    )


def _thread_that_lives(pid: int) -> list[bytes] | None:
    """The fields of proc(5), from the third on, of a thread that has not ended; None where all have."""
    with contextlib.suppress(OSError, ValueError):  # the process, or a thread, ends meanwhile
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
                text = file.read()
            field = text[text.rindex(b")") + 2 :].split()
            if field[0] not in (b"Z", b"X"):
                return field
    return None


def _look_up_portably(pid: int) -> Process | None:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            zombie = process.status() == psutil.STATUS_ZOMBIE
            cpu = process.cpu_times()
            return Process(
                pid=pid,
                parent_pid=process.ppid(),
                session=os.getsid(pid),
                started=round(process.create_time() * 100),
                zombie=zombie,
                stopped=process.status() == psutil.STATUS_STOPPED,
                resident_bytes=0 if zombie else process.memory_info().rss,
                threads=0 if zombie else process.num_threads(),
                cpu_s=cpu.user + cpu.system,
            )
    except (psutil.Error, OSError):
        return None


def children(pid: int) -> list[int]:
    """Process numbers of the direct children; empty when there is no such process."""
    if not _HAS_CHILDREN_FILES:
        return _children_portably(pid)
    found: list[int] = []
    threads: list[str] = []
    with contextlib.suppress(OSError):  # it ended meanwhile: the next look finds its children as orphans
        threads = os.listdir(f"/proc/{pid}/task")
    for thread in threads:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
            found += map(int, file.read().split())
    return found


def _children_portably(pid: int) -> list[int]:
    import psutil

    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def descendants(pids: Iterable[int]) -> list[Process]:
    """The given processes and all below them, parents before children."""
    found: dict[int, Process] = {}
    queue = list(pids)
    for pid in queue:
        if pid not in found and (process := look_up(pid)) is not None:
            found[pid] = process
            queue += [] if process.zombie else children(pid)
    return list(found.values())


def adopt_orphans() -> None:
    """Make this process the one to which the orphans below it go (Linux only; needs no privilege)."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends; its own children do not inherit that."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def lock_own_memory() -> None:
    """Keep other processes of this user, root apart, out of this one's memory, environment, descriptors."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def resident_bytes(processes: Iterable[Process], limit_bytes: int) -> int:
    """Resident memory of the processes; where that is above the limit, pages shared among them count once.

    The exact figure costs the kernel a walk over the page tables, so it is asked for only when it decides.
    """
    running = [process for process in processes if not process.zombie]
    total = sum(process.resident_bytes for process in running)
    if total <= limit_bytes or len(running) < 2:
        return total
    return sum(min(process.resident_bytes, _proportional_bytes(process)) for process in running)


def _proportional_bytes(process: Process) -> int:
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):  # ended, another system, or not ours to read: count all of it
        pass
    return process.resident_bytes


class Tree:
    """The processes of one worker, found again at every look, also those that left their parents.

    While a tree exists, a child of this process in a foreign session that was started after the worker counts
    as the worker's orphan: the judge must start no daemon of its own then. Where several workers live, an
    orphan that no look saw with its parents goes to the tree that looks first.
    """

    def __init__(self, main_pid: int) -> None:
        main = look_up(main_pid)
        self.main_pid = main_pid
        self._started = main.started if main else 0
        self._seen = {main_pid: self._started}
        self._closed = False
        self._buried = 0
        self._buried_cpu_s = 0.0
        with spawning:
            _trees.append(self)

    def look(self) -> list[Process]:
        """Everything that lives now, and zombies; orphans that have ended are buried on the way."""
        with spawning:
            known = [pid for pid, started in self._seen.items() if _is_still(pid, started)]
            found = descendants([*known, *self._orphans()])
            living = [process for process in found if not self._bury(process)]
            self._seen = {process.pid: process.started for process in living}
            return living

    @property
    def buried(self) -> int:
        """How many orphans have ended so far. Honest code leaves hardly any."""
        return self._buried

    def cpu_s(self, processes: Iterable[Process]) -> float:
        """CPU seconds of these and of the orphans that are gone."""
        return self._buried_cpu_s + sum(process.cpu_s for process in processes)

    def kill(self, timeout_s: float = 30.0) -> bool:
        """End every process and wait until all are gone; the main one may stay a zombie for its `Popen`.

        Returns:
            False when some still live after the time-out, which only a process stuck in the kernel does.
        """
        deadline = time.monotonic() + timeout_s
        while not self._closed:
            self._kill_group()
            buried = self._buried
            remaining = [process for process in self.look() if not self._is_dead_main(process)]
            # Of a chain of processes that each fork and end, a look may find only the dead: look again then.
            if not remaining and self._buried == buried:
                self._close()
            elif time.monotonic() > deadline:
                return False
            else:
                _signal(remaining, signal.SIGKILL)
                time.sleep(0.001)
        return True

    def _kill_group(self) -> None:
        """Kill what stayed in the group that the main process leads, at one stroke: a bomb forks no further then.

        While the main process is there, dead or alive, nobody else's group can have its number.
        """
        if _is_still(self.main_pid, self._started):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.main_pid, signal.SIGKILL)

    def pause(self, timeout_s: float = 5.0) -> bool:
        """Stop every process until `resume`, those too that a process starts meanwhile.

        Returns:
            False when some still run after the time-out.
        """
        deadline = time.monotonic() + timeout_s
        stopped: set[tuple[int, int]] = set()
        while True:
            living = {
                (process.pid, process.started): process for process in self.look() if not process.zombie
            }
            if stopped.issuperset(living) and all(process.stopped for process in living.values()):
                return True
            if time.monotonic() > deadline:
                return False
            _signal(living.values(), signal.SIGSTOP)
            stopped |= living.keys()
            time.sleep(0.0005)

    def resume(self) -> None:
        """Let every process run on."""
        _signal(self.look(), signal.SIGCONT)

    def _close(self) -> None:
        """Claim no orphan from now on."""
        with spawning:
            self._closed = True
            if self in _trees:
                _trees.remove(self)

    def _is_dead_main(self, process: Process) -> bool:
        return process.zombie and process.pid == self.main_pid

    def _orphans(self) -> list[int]:
        """Children of this process that no living tree knows and that no code of the judge started."""
        claimed = {item for tree in _trees for item in tree._seen.items()}
        own_session = os.getsid(0)
        found = []
        for process in filter(None, map(look_up, children(os.getpid()))):
            foreign = process.session != own_session and process.started >= self._started
            if foreign and (process.pid, process.started) not in claimed:
                found.append(process.pid)
        return found

    def _bury(self, process: Process) -> bool:
        """Wait for a zombie that was left to this process, but for the main one, which is its `Popen`'s."""
        if not process.zombie or process.parent_pid != os.getpid() or process.pid == self.main_pid:
            return False
        with contextlib.suppress(ChildProcessError):
            pid, _, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                self._buried += 1
                self._buried_cpu_s += usage.ru_utime + usage.ru_stime
            return bool(pid)
        return True


def _is_still(pid: int, started: int) -> bool:
    process = look_up(pid)
    return process is not None and process.started == started


def _signal(processes: Iterable[Process], number: signal.Signals) -> None:
    for process in processes:
        if not process.zombie and process.pid > 1:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
