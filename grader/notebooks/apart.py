"""Reads a notebook in a process of its own, with limits: what a student sent can stall or end what reads it."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

_READING = Path(__file__).with_name("modules.py")
CPU_S = 10  # 0.1 s for the solutions' notebooks, 1 s for the slowest honest ones of the tests
MEMORY_BYTES = 2 << 30
_WALL_S = 60.0  # of a busy machine


class NotebookUnread(Exception):
    """Why nobody could read it, in one line; its text may hold a student's words."""


class _Said(BaseModel):
    texts: dict[str, str] | None = None
    unread: str = ""
    why: str = ""


def files_of_notebook(
    notebook: bytes,
    files: Mapping[str, Sequence[str]],
    locked: Mapping[str, str] | None = None,
    cpu_s: int = CPU_S,
) -> dict[str, str]:
    """The text of each file that is in the notebook's code cells, as `modules` makes it.

    Args:
        notebook: as it came.
        files: names of functions (or classes) by file.
        locked: see `code_cells`.
        cpu_s: seconds of processor time that reading may take.

    Raises:
        NotebookUnread: it is no notebook, or takes too long.
    """
    task = {
        "files": {file: list(names) for file, names in files.items()},
        "locked": dict(locked or {}),
        "cpu_s": cpu_s,
        "memory_bytes": MEMORY_BYTES,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-B", "-W", "ignore", str(_READING)],
            input=json.dumps(task).encode() + b"\n" + notebook,
            capture_output=True,
            timeout=_WALL_S,
        )
        said = _Said.model_validate_json(done.stdout)
    except subprocess.TimeoutExpired:
        said = _Said(unread=f"it takes longer than {_WALL_S:g} s")
    except ValidationError:
        if done.returncode == -signal.SIGXCPU:
            said = _Said(unread=f"it takes longer than {cpu_s} s")
        else:  # a signal for what ends the interpreter, an exit code for a fault of our own
            said = _Said(
                unread="it ends what reads it" if done.returncode < 0 else "the reading itself failed"
            )
    if said.unread:
        raise NotebookUnread(f"this notebook cannot be read: {said.unread}")
    if said.texts is None:
        raise NotebookUnread(f"not a notebook ({said.why})")
    return said.texts
