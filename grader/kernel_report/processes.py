"""Starts the two child processes of a report at once, asks them one after the other, and leaves none behind."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from grader.kernel_report.child import PATIENCE_S
from grader.kernel_report.task import Answer, Task
from grader.refusal import BadInput


class Child:
    """One process, importing torch and triton until it is asked."""

    def __init__(self, folder: Path, *, interpreted: bool) -> None:
        name = "interpreted" if interpreted else "compiled"
        self._result = folder / f"{name}.json"
        # Triton's cache lives as long as this report: both processes share it, other runs do not.
        environment = dict(os.environ, TRITON_CACHE_DIR=str(folder / "cache"))
        environment.pop("TRITON_INTERPRET", None)
        if interpreted:
            environment["TRITON_INTERPRET"] = "1"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grader.kernel_report.child", str(self._result)],
            stdin=subprocess.PIPE,
            stdout=sys.stderr,  # what the function prints is not part of the report
            env=environment,
            text=True,
        )

    def ask(self, task: Task) -> Answer:
        """Wait for the answer.

        Raises:
            BadInput: the process ended without one, or took too long.
        """
        stream = self._process.stdin
        try:
            if stream is not None:
                stream.write(task.model_dump_json() + "\n")
                stream.flush()
            code = self._process.wait(PATIENCE_S)
        except BrokenPipeError:
            code = self._process.wait()
        except subprocess.TimeoutExpired:
            raise BadInput(
                f"{task.function} ran longer than {PATIENCE_S / 60:g} min: a loop without end, or too large for the "
                "interpreter; give smaller sizes with --shape"
            ) from None
        if code != 0 or not self._result.is_file():
            raise BadInput(f"the process that ran {task.function} {_ended(code)}")
        return Answer.model_validate_json(self._result.read_text(encoding="utf-8"))

    def end(self) -> None:
        """Kill the process if it is still there."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


class Children:
    """Both processes in a temporary folder; `interpreted` is None where the run is in this process."""

    def __init__(self, *, here: bool) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rooflab-")
        folder = Path(self._folder.name)
        self.interpreted = None if here else Child(folder, interpreted=True)
        self.compiled = Child(folder, interpreted=False)

    def __enter__(self) -> "Children":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in (self.interpreted, self.compiled):
            if child is not None:
                child.end()
        self._folder.cleanup()


def _ended(code: int) -> str:
    if code == -signal.SIGKILL:
        return "was killed, most likely for lack of memory: give smaller sizes with --shape"
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
