"""Workers for the kernels of a folder on one's own machine: no sandbox, wide limits, started when first needed."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specs.assignment import Assignment, assignments

if TYPE_CHECKING:
    from grader.calls.official import SandboxedRunner
    from grader.calls.runner import Request

# A self-check shall stop what never ends and disturb nothing else: laptops are slow, and one may be asleep.
_TIMES_SLOWER = 20
_MEMORY_BYTES = 8 << 30


class LocalLanes:
    """Runs the lane requests of a folder; one worker for each assignment and lane, reused until `close`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runner: SandboxedRunner | None = None

    def run(self, request: "Request") -> Any:
        """Run one request, as SandboxedRunner does.

        Raises:
            Fault: there is no value.
        """
        if self._runner is None:
            self._runner = self._start()
        return self._runner.run(request)

    def close(self) -> None:
        """End the workers; a later request starts new ones."""
        if self._runner is not None:
            self._runner.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._runner = self._folder = None

    def _start(self) -> "SandboxedRunner":
        from grader.calls.official import (
            SandboxedRunner,
            installed_specs,
            stage,
        )  # which only Linux can import

        self._folder = tempfile.TemporaryDirectory(prefix="rooflab-kit-")
        view = stage(installed_specs(), Path(self._folder.name))
        specs = {name: _widely(spec) for name, spec in assignments().items()}
        return SandboxedRunner(view, self.root, specs, "process", bounded=False, confirm=False)


def _widely(spec: Assignment) -> Assignment:
    limits = spec.limits
    return spec.model_copy(
        update={
            "limits": limits.model_copy(
                update={
                    "call_s": limits.call_s * _TIMES_SLOWER,
                    "import_s": limits.import_s * _TIMES_SLOWER,
                    "submission_s": 1e6,
                    "memory_bytes": max(limits.memory_bytes, _MEMORY_BYTES),
                    "disk_bytes": limits.disk_bytes * _TIMES_SLOWER,
                }
            )
        }
    )
