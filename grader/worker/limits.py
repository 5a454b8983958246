"""Puts the resource limits on the worker process itself, before any student code runs.

Runs inside the sandbox as a plain file of the staged kit: standard library only. The judge's watchdog holds
the whole process tree to its limits; these hold each single process between two of its looks.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38  # linux/prctl.h


def apply(limits_json: str) -> tuple[str, ...]:
    """Apply the limits that `Limits.worker_json` wrote; call it before anything else.

    A limit is never raised above what the process already has. Memory is limited as address space, which
    Linux enforces and macOS does not.

    Returns:
        Names of the limits that this system refused, empty on Linux.

    Raises:
        ValueError: the text is not the JSON object that `Limits.worker_json` writes.
    """
    wanted = json.loads(limits_json)
    if not isinstance(wanted, dict):
        raise ValueError(f"limits: expected a JSON object, got {type(wanted).__name__}")
    judge_pid = wanted.get("judge_pid")
    if judge_pid is not None:
        _die_with(int(judge_pid))
    _go_first()
    limits = [
        ("core", resource.RLIMIT_CORE, 0),
        ("open_files", resource.RLIMIT_NOFILE, wanted["open_files"]),
        ("file_bytes", resource.RLIMIT_FSIZE, wanted["file_bytes"]),
        ("cpu_s", resource.RLIMIT_CPU, wanted["cpu_s"]),
        ("address_space_bytes", resource.RLIMIT_AS, wanted["address_space_bytes"]),
    ]
    return tuple(name for name, kind, value in limits if value is not None and not _lower(kind, int(value)))


def _lower(kind: int, value: int) -> bool:
    """Set the soft and hard limit to `value` or to the present hard limit, whichever is less."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):
        return False
    return True


def _go_first() -> None:
    """Should memory run out all the same, have the kernel end a worker rather than a judge."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("800")


def _die_with(judge_pid: int) -> None:
    """Have the kernel kill this process when the judge's thread that started it ends, and give it no more rights.

    Outside the sandbox only: there, bubblewrap does both.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # no su, no sudo
    if os.getppid() != judge_pid:  # the judge died before the line above: nobody will read the answers
        os._exit(1)
