"""A running worker: started confined, watched against its limits, ended with everything that it started."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from grader.sandbox import bubblewrap, other_user
from grader.sandbox.limits import Limits
from grader.sandbox.tree import Process, Tree, resident_bytes, spawning

# In this time a memory bomb overshoots 512 MB by 16 MB and a fork bomb reaches 140 processes.
_LOOK_INTERVAL_S = 0.02
_LOOKS_PER_DISK_LOOK = 10
_BWRAP_PROCESSES = 2  # bwrap outside and, inside, its process 1


class Confined:
    """One worker and everything that it starts, held to its limits by a watchdog thread; made by `launching.launch`."""

    def __init__(
        self,
        command: Sequence[str],
        descriptors: Sequence[int],
        limits: Limits,
        home: Path | None,
        variables: Mapping[str, str] | None = None,
        quarters: other_user.Quarters | None = None,
    ) -> None:
        """`home` is the worker's temporary folder, None in the sandbox; `variables` are added to its environment
        there; `quarters` are those of another user."""
        self._quarters = quarters
        self._limits = limits
        self._home = home
        self._killed_because: str | None = None
        self._stop = threading.Event()
        self._tail = bytearray()
        self._tail_lock = threading.Lock()
        with spawning:
            self._process = subprocess.Popen(
                command,
                # bwrap's own environment can be read from inside, in /proc/1/environ.
                env=bubblewrap.environment(str(home) if home else bubblewrap.HOME) | dict(variables or {}),
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                pass_fds=descriptors,
                start_new_session=True,
                user=quarters.uid if quarters else None,
                group=quarters.uid if quarters else None,
                extra_groups=[] if quarters else None,
            )
            self._tree = Tree(self._process.pid)
        assert self._process.stdout is not None
        self._drain = threading.Thread(target=self._read_output, args=(self._process.stdout,), daemon=True)
        self._watchdog = threading.Thread(target=self._watch, daemon=True)
        self._drain.start()
        self._watchdog.start()

    @property
    def pid(self) -> int:
        """Process number of the outermost process: bwrap, or the worker itself at the process level."""
        return self._process.pid

    @property
    def killed_because(self) -> str | None:
        """Which limit the watchdog ended the worker for ("memory: 1.31 GB, limit 1.07 GB"), or None."""
        return self._killed_because

    def poll(self) -> int | None:
        """The worker's exit status, None while it runs; a signal is negative, or 128 + number from bwrap."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Like `poll`, after waiting up to `timeout_s` seconds for the worker to end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self._process.poll()

    def output(self) -> str:
        """The end of what was written to stdout and stderr, at most `output_bytes` of it, as it came."""
        if self._process.poll() is not None:
            self._drain.join(timeout=0.5)  # the last words may still be in the pipe
        with self._tail_lock:
            return self._tail.decode("utf-8", "replace")

    def pause(self) -> bool:
        """Stop the whole tree until `resume`; False when some of it still runs."""
        return self._tree.pause()

    def resume(self) -> None:
        """Let the whole tree run on."""
        self._tree.resume()

    def cpu_s(self) -> float:
        """CPU seconds that the whole tree has used so far; of those that are paused it does not grow."""
        return self._tree.cpu_s(self._tree.look())

    def processes(self) -> tuple[int, ...]:
        """Process numbers of the whole tree."""
        return tuple(process.pid for process in self._tree.look())

    def kill(self) -> None:
        """End the whole tree, wait until it is gone, remove its temporary folder; twice is harmless.

        Raises:
            RuntimeError: a process cannot be ended, being stuck in the kernel.
        """
        self._stop.set()
        gone = self._end()
        if gone:
            self._process.wait()
        self._watchdog.join()
        self._drain.join(timeout=1.0)
        if self._home is not None:
            remove(self._home)
        if self._quarters is not None:
            self._quarters.clear()
        if not gone:
            raise RuntimeError(f"worker {self.pid} cannot be ended: a process of it is stuck in the kernel")

    def __enter__(self) -> "Confined":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def _end(self) -> bool:
        """Kill the tree; False when some of it cannot be ended."""
        if self._home is None:
            # The sandbox's first process dies with bwrap, and the kernel ends all others with that one,
            # sooner than a fork bomb on a busy machine can be listed.
            self._process.kill()
        return self._tree.kill()

    def _read_output(self, pipe: IO[bytes]) -> None:
        """Read until nobody can write any more, so that a noisy worker never waits for a reader."""
        with pipe:
            while chunk := pipe.read(1 << 16):
                with self._tail_lock:
                    self._tail += chunk
                    del self._tail[: -self._limits.output_bytes]

    def _watch(self) -> None:
        looks = 0
        while not self._stop.wait(_LOOK_INTERVAL_S):
            processes = self._tree.look()
            if self._process.poll() is not None:
                self._end()  # what the worker left behind
                return
            reason = self._excess(processes)
            if reason is None and looks % _LOOKS_PER_DISK_LOOK == 0:
                reason = self._disk_excess(processes)
            if reason is not None:
                self._killed_because = reason  # before the kill: who sees the wire close finds the reason
                self._end()
                return
            looks += 1

    def _excess(self, processes: Sequence[Process]) -> str | None:
        """Which limit the tree is above, in words, or None."""
        limits = self._limits
        memory_bytes = resident_bytes(processes, limits.memory_bytes)
        if memory_bytes > limits.memory_bytes:
            return f"memory: {_size(memory_bytes)}, limit {_size(limits.memory_bytes)}"
        count = len(processes) - (_BWRAP_PROCESSES if self._home is None else 0)
        # Those that ended as orphans count too: a chain of short lives is a fork bomb as well.
        if count + self._tree.buried > limits.processes:
            return f"processes: {count + self._tree.buried}, limit {limits.processes}"
        threads = sum(process.threads for process in processes)
        if threads > limits.threads:
            return f"threads: {threads}, limit {limits.threads}"
        cpu_s = self._tree.cpu_s(processes)
        if cpu_s > limits.cpu_s:
            return f"CPU time: {cpu_s:.0f} s, limit {limits.cpu_s} s"
        return None

    def _disk_excess(self, processes: Sequence[Process]) -> str | None:
        """Like `_excess`, for what was written; the kernel bounds the bytes of a tmpfs but not its files."""
        limits = self._limits
        if self._home is None:
            files, written_bytes = _tmpfs_files(processes[-1].pid, limits.disk_bytes) if processes else 0, 0
        else:
            files, written_bytes = _folder_use(self._home, limits.files)
        if files > limits.files:
            return f"files: more than {limits.files}"
        if written_bytes > limits.disk_bytes:
            return f"disk: {_size(written_bytes)}, limit {_size(limits.disk_bytes)}"
        return None


def _tmpfs_files(pid: int, size_bytes: int) -> int:
    """Number of files in the sandbox's two writable folders of the given size, seen through a process.

    Before bwrap has moved the process inside, the same paths lead to the host's folders, which are larger.
    """
    total = 0
    for folder in ("tmp", "dev/shm"):
        try:
            usage = os.statvfs(f"/proc/{pid}/root/{folder}")
        except OSError:  # not set up yet, or ended
            return 0
        if usage.f_blocks * usage.f_frsize > size_bytes + usage.f_frsize:
            return 0
        total += usage.f_files - usage.f_ffree
    return total


def _folder_use(folder: Path, most_files: int) -> tuple[int, int]:
    """(number of entries, bytes on disk) below `folder`; counting ends once there are too many."""
    files, written_bytes = 0, 0
    queue = [str(folder)]
    while queue and files <= most_files:
        with contextlib.suppress(OSError), os.scandir(queue.pop()) as entries:
            for entry in entries:
                files += 1
                if files > most_files:
                    break
                with contextlib.suppress(OSError):
                    written_bytes += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
    return files, written_bytes


def remove(folder: Path) -> None:
    """Remove a folder that hostile code has filled: without recursion, and in spite of its permissions."""
    if not folder.exists():
        return
    tools = (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"])
    for tool in tools:
        if folder.exists():
            subprocess.run([*tool, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _size(count_bytes: int) -> str:
    return f"{count_bytes / 1e9:.2f} GB" if count_bytes >= 1e9 else f"{count_bytes / 1e6:.0f} MB"
