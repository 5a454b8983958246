"""Starts a worker at one of three levels: in bubblewrap, as another user, or as a limited process."""

import contextlib
import os
import socket
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.sandbox import bubblewrap, other_user, seccomp
from grader.sandbox.availability import available
from grader.sandbox.confined import Confined, remove
from grader.sandbox.limits import Limits
from grader.sandbox.tree import adopt_orphans, lock_own_memory

Level = Literal["process", "user", "sandbox"]


@dataclass(frozen=True)
class _Start:
    """What `launch` was told, whatever the level."""

    kit: Path
    submission: Path
    entry: str
    wire: socket.socket
    limits: Limits
    argv: Sequence[str]
    hide: Sequence[Path]
    descriptors: Sequence[int]
    devices: Sequence[Path]
    variables: Mapping[str, str]

    def command(self, entry: str, site: str, submission: str, judge_pid: int | None) -> list[str]:
        """The worker's own command line, with paths as the worker sees them."""
        worker = bubblewrap.python_command(
            entry,
            wire_fd=self.wire.fileno(),
            site=site,
            submission=submission,
            limits_json=self.limits.worker_json(judge_pid=judge_pid),
        )
        return [*worker, *self.argv]

    @property
    def inherited(self) -> list[int]:
        """Descriptors that the worker gets."""
        return [self.wire.fileno(), *self.descriptors]


def launch(
    level: Level,
    *,
    kit: Path,
    submission: Path,
    entry: str,
    wire: socket.socket,
    limits: Limits | None = None,
    argv: Sequence[str] = (),
    hide: Sequence[Path] = (),
    bwrap: Path | None = None,
    descriptors: Sequence[int] = (),
    devices: Sequence[Path] = (),
    variables: Mapping[str, str] | None = None,
) -> Confined:
    """Start `kit/entry` as a worker and watch it.

    The worker is told `--wire FD --site DIR --submission DIR --limits JSON` and then `argv`. It puts the
    limits on itself (`worker/limits.py`), sets its own `sys.path` and speaks over FD, its only descriptor
    beside stdin (/dev/null), stdout and stderr. `wire` is the worker's end of a socket pair; it is closed in
    any case, so that the judge sees the end of the stream when the worker ends.

    Call it from a thread that lives as long as the worker: the kernel ends the worker when the *thread* that
    started it ends. While a worker lives this process must start no process of its own in a new session: it
    would be taken for the worker's orphan.

    Args:
        level: "sandbox" (bubblewrap), "user" (another user; this process is root) or "process" (another process of
            the same user, for honest code).
        kit: folder with the worker's code, staged; seen as /kit in the sandbox.
        submission: folder with one staged submission; seen as /submission.
        entry: path of the script inside `kit`.
        hide: host paths that must not be seen even where a system folder that is shown contains them. The
            process level cannot hide anything, the user level not what is open to every user.
        bwrap: the binary to use in place of the one that is found.
        descriptors: more of this process's that the worker gets, under the same numbers.
        devices: host paths of a GPU, such as /dev/nvidia0, that the worker may open; the process level has them all.
        variables: more of the worker's environment.

    Raises:
        SandboxUnavailable: bubblewrap does not work on this machine.
        FileNotFoundError: `kit/entry` or `submission` does not exist.
        ValueError: `hide` names something that the worker needs.
    """
    start = _Start(
        kit,
        submission,
        entry,
        wire,
        limits or Limits(),
        argv,
        hide,
        descriptors,
        devices,
        variables or {},
    )
    with contextlib.closing(wire):
        for needed in (kit / entry, submission):
            if not needed.exists():
                raise FileNotFoundError(f"{needed}: no such file or folder, needed to start a worker")
        adopt_orphans()
        if level == "sandbox":
            return _in_sandbox(start, available(bwrap).require())
        lock_own_memory()
        return _as_other_user(start) if level == "user" else _as_process(start)


def _in_sandbox(start: _Start, binary: str) -> Confined:
    entry, site, submission = (
        str(bubblewrap.KIT / start.entry),
        str(bubblewrap.SITE),
        str(bubblewrap.SUBMISSION),
    )
    worker = start.command(entry, site, submission, judge_pid=None)
    with seccomp.program_pipe() as filter_fd:
        outside = bubblewrap.sandbox_arguments(
            kit=start.kit,
            submission=start.submission,
            hide=start.hide,
            disk_bytes=start.limits.disk_bytes,
            seccomp_fd=filter_fd,
            devices=start.devices,
            variables=start.variables,
        )
        descriptors = [*start.inherited, *([] if filter_fd is None else [filter_fd])]
        return Confined([binary, *outside, *worker], descriptors, start.limits, home=None)


def _as_process(start: _Start) -> Confined:
    entry, site = str(start.kit.resolve() / start.entry), str(bubblewrap.site_packages())
    worker = start.command(entry, site, str(start.submission.resolve()), os.getpid())
    home = Path(tempfile.mkdtemp(prefix="rooflab-worker-"))
    try:
        return Confined(worker, start.inherited, start.limits, home, start.variables)
    except BaseException:
        remove(home)
        raise


def _as_other_user(start: _Start) -> Confined:
    quarters = other_user.move_in(start.kit, start.submission)
    entry, site = str(quarters.kit / start.entry), str(bubblewrap.site_packages())
    worker = start.command(entry, site, str(quarters.submission), os.getpid())
    try:
        return Confined(worker, start.inherited, start.limits, quarters.home, start.variables, quarters)
    except BaseException:
        quarters.clear()
        raise
