"""Starts the real `grader grade` on a copy of the kit, and finds the processes that belong to it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

import grader
from grader.sandbox import available

KIT = Path(grader.__file__).resolve().parent.parent
SAMPLES = KIT / "tests" / "submissions"
_PARTS = ("specs", "kernels_ref", "grader", "solutions", "assignments", "pyproject.toml")
_SEED = "5eed" * 16
_LONGEST_S = 300.0
Found = TypeVar("Found")


def _hears_ctrl_c() -> None:
    """A suite that was started in the background ignores SIGINT, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Course:
    """A kit of the test's own: edits of the checkout change no grade meanwhile, and the seed is known."""

    kit: Path

    def start(self, out: Path, submissions: Sequence[Path], *options: str) -> subprocess.Popen[str]:
        """The running command, in a process group of its own."""
        command = [str(Path(sys.executable).parent / "grader"), "grade", *map(str, submissions)]
        return subprocess.Popen(
            [*command, "--out", str(out), "--isolation", "sandbox", *options],
            cwd=self.kit,
            env={**os.environ, "PYTHONPATH": str(self.kit), "COLUMNS": "160"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_hears_ctrl_c,
        )

    def grade(self, out: Path, submissions: Sequence[Path], *options: str) -> "Ended":
        """Run the command to its end."""
        return ended(self.start(out, submissions, *options))


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str


def ended(command: subprocess.Popen[str]) -> Ended:
    """Wait for a command."""
    stdout, stderr = command.communicate(timeout=_LONGEST_S)
    return Ended(command.returncode, stdout, stderr)


def make_course(folder: Path) -> Course:
    """Copy the kit into `folder`; fails where no sandbox can start, since nothing would be tested."""
    state = available()
    if not state.ok:
        pytest.fail(
            f"`grader grade` was NOT tested: no sandbox: {state.reason}; {state.remedy}", pytrace=False
        )
    kit = folder / "kit"
    kit.mkdir()
    for part in _PARTS:
        if (KIT / part).is_dir():
            shutil.copytree(KIT / part, kit / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(KIT / part, kit / part)
    (kit / ".rooflab").mkdir()
    (kit / ".rooflab" / "course-seed").write_text(_SEED + "\n")
    return Course(kit)


def samples(folder: Path = SAMPLES) -> list[Path]:
    """The sample submissions in a folder: its folders and zip files."""
    return sorted(path for path in folder.iterdir() if path.is_dir() or path.suffix == ".zip")


def reports(out: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of change (ns) of each report, by submission."""
    return {
        path.parent.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.glob("*/report.json")
    }


def processes_of(out: Path) -> list[psutil.Process]:
    """Judges, sandboxes and workers that grade into `out`.

    A judge and bwrap name its work folder in environment or arguments; a worker, which sees nothing of the
    host, has a part of it mounted.
    """
    mark, found = f"{out}/.work", []
    for process in psutil.process_iter():
        try:
            told = [*process.cmdline(), *process.environ().values()]
            mounts = Path(f"/proc/{process.pid}/mountinfo").read_text()
            lives = process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            continue
        if lives and (any(mark in text for text in told) or mark in mounts):
            found.append(process)
    return found


def wait_for(what: str, finds: Callable[[], Found | None], at_most_s: float = 60.0) -> Found:
    """What `finds` returns, once that is something; fail when it does not become so."""
    deadline = time.monotonic() + at_most_s
    while not (found := finds()):
        assert time.monotonic() < deadline, f"waited {at_most_s:g} s in vain until {what}"
        time.sleep(0.02)
    return found
