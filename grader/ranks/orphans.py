"""Sees to it that no process outlives the worker that runs ranks: not a rank, nor what a rank has started."""

import contextlib
import os
import signal
import sys
import time


def adopt() -> None:
    """Have what a rank leaves behind come to this process (Linux), so that it can be ended."""
    if sys.platform.startswith("linux"):
        _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


def die_with(worker: int) -> None:
    """End this rank when its worker does (Linux): a worker that is killed ends nothing itself."""
    if sys.platform.startswith("linux"):
        _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != worker:
            os._exit(1)


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def end_all() -> None:
    """End every process below this one: it has none but ranks and what they have started."""
    for _ in range(1000):
        found = _children()
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.002)


def _children() -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found
