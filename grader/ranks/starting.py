"""How the processes of ranks come up: forked from the worker on Linux, spawned elsewhere.

A fork takes 0.01 s and shares PyTorch's pages. Systems whose numerical libraries do not survive a fork (macOS) get a
new interpreter for each rank, which imports PyTorch and the student's file again: a second or two.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import socket
import sys
import threading
import time
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import orphans
from . import rank as rank_process

if TYPE_CHECKING:
    from grader.worker import load, seal, verbs
else:  # staged, that package is around this one
    from .. import load, seal, verbs

FORKS = sys.platform.startswith("linux")
_PACKAGE = __package__.rpartition(".")[0]

Start = Callable[[int, int, str, socket.socket, Sequence[int]], int]
"""(rank, size, folder, its end of the talk, descriptors that no rank may have) to the number of its process."""


def scenarios() -> dict[str, types.ModuleType]:
    """What ranks can be asked to do, by name."""
    folder = importlib.import_module(".scenarios", __package__)
    return {
        found.name: importlib.import_module(f".scenarios.{found.name}", __package__)
        for found in pkgutil.iter_modules(folder.__path__)
    }


def forked(
    student: Any, root: Path, known: dict[str, types.ModuleType], changed: Callable[[], bool]
) -> Start:
    """Ranks that are copies of this process, the student's function in them."""

    def start(rank: int, size: int, folder: str, talk: socket.socket, private: Sequence[int]) -> int:
        worker = os.getpid()
        pid = os.fork()
        if not pid:
            orphans.die_with(worker)
            os.setpgid(0, 0)
            for descriptor in private:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            rank_process.main(rank, size, folder, talk, student, root, known, changed)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        return pid

    return start


def spawned(command: Sequence[str], assignment: str, file: str, function: str) -> Start:
    """Ranks that are interpreters of their own, and find the student's function by its file.

    `command` is what this worker was started with.
    """

    def start(rank: int, size: int, folder: str, talk: socket.socket, private: Sequence[int]) -> int:
        for descriptor in private:
            with contextlib.suppress(OSError):
                os.set_inheritable(descriptor, False)
        talk.set_inheritable(True)
        told = {
            "rank": rank,
            "size": size,
            "folder": folder,
            "talk": talk.fileno(),
            "worker": os.getpid(),
            "assignment": assignment,
            "file": file,
            "function": function,
        }
        return os.posix_spawn(
            sys.executable, [*command, "--rank", json.dumps(told)], dict(os.environ), setpgroup=0
        )

    return start


def be_rank(told: dict[str, Any], root: Path) -> NoReturn:
    """Be the rank that `spawned` has started this process for."""
    import torch

    torch.set_num_threads(1)
    known = scenarios()
    changed = seal.seal_package(_PACKAGE).changed
    threading.Thread(target=_end_with, args=(told["worker"],), daemon=True).start()
    talk = socket.socket(fileno=told["talk"])
    talk.set_inheritable(False)
    module = load.load_module(root, told["assignment"], told["file"])
    student = verbs.callable_of(getattr(module, told["function"]))
    rank_process.main(told["rank"], told["size"], told["folder"], talk, student, root, known, changed)


def _end_with(worker: int) -> None:
    """End this process when the worker is gone, which ends nothing itself when it is killed."""
    while os.getppid() == worker:
        time.sleep(0.5)
    os._exit(1)
