"""One official grading: the process that holds inputs, oracle, clock and verdict. Started by the cohort, one each.

It reads its task as one JSON line on standard input, which then stays open: when it ends, because the grader was
killed, the judge ends too and takes its workers along.
"""

import json
import math
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from grader import plugin
from grader.calls.faults import NeedsGpu
from grader.calls.official import SandboxedRunner, stage_kit
from grader.calls.submission import Timer
from grader.checks.verdicts import Judge
from grader.clock.device import DeviceError
from grader.clock.verdict import TimingVerdict
from grader.kit import find_kit
from grader.report import Environment, GradeReport, SubmissionInfo, write_report
from grader.sandbox import Level
from grader.session import Installed, arguments, that_may_check

Clock = Literal["gpu", "cpu"]
"""A GPU of this machine; or its cores, which no threshold of the specs is for: the kit's own tests time on them."""


class Task(BaseModel):
    """What the cohort asks of a judge."""

    kit: Path
    solutions: Path
    staged: Path
    """The submission's copied files."""
    scratch: Path
    """A folder of this judge's own."""
    report: Path
    info: SubmissionInfo
    environment: Environment
    """What the grade depends on, as the cohort found it out: hashing the kit takes a fifth of a second."""
    isolation: Level
    seed_hex: str
    assignments: tuple[str, ...]
    only: tuple[str, ...] = ()
    hide: tuple[Path, ...] = ()
    view: Path | None = None
    """What workers may see of the kit, where it lies ready for all judges."""
    clock: Clock | None = None
    """What functions are timed on, if on anything."""
    accept_unmeasured: bool = False
    alone: bool = False
    """Whether the instructor vouches that nobody else is on the GPU, where that cannot be seen."""
    wait_s: float = math.inf
    """How long to wait at most for a GPU that another run holds."""
    earlier: dict[str, TimingVerdict] = {}
    """What was found out about the speed before, by exercise and check."""


def main() -> int:
    """Grade one submission; exit 0 when a report was written."""
    line = sys.stdin.readline()
    # A descriptor of its own: pytest's capture points descriptor 0 elsewhere.
    return run(Task.model_validate(json.loads(line)), os.dup(sys.stdin.fileno()))


def _die_with_the_grader(lifeline: int, end: Callable[[], None]) -> None:
    """Wait until `lifeline` ends, which is when the grader is gone; then end everything."""
    while os.read(lifeline, 4096):
        pass
    try:
        end()
    finally:
        os._exit(1)  # whatever the main thread did to the workers meanwhile: they die with this process


def run(task: Task, lifeline: int) -> int:
    """Run pytest over the visible and hidden tests of the task's assignments, with the submission confined.

    `lifeline` is a descriptor whose end means that the grader is gone.
    """
    kit = find_kit(task.kit, task.solutions)
    specs = {name: spec for name, spec in kit.available().items() if name in task.assignments}
    # A worker of the same user could write to what lies ready for all: there each judge makes its own.
    view = (
        task.view if task.view is not None and task.isolation != "process" else stage_kit(kit, task.scratch)
    )
    runner = SandboxedRunner(view, task.staged, specs, task.isolation, task.hide, task.info.notes)
    threading.Thread(target=_die_with_the_grader, args=[lifeline, runner.close], daemon=True).start()
    reports: list[GradeReport] = []
    judge = Judge(
        kit,
        runner,
        task.info,
        kind="official",
        seed=bytes.fromhex(task.seed_hex),
        only=task.only,
        on_report=reports.append,
        timer=_timer(task, view),
        current=task.environment,
    )
    tests = [path for name in specs for path in (*kit.visible_tests(name), *kit.hidden_tests(name))]
    tests = that_may_check(task.only, tests)
    try:
        code = pytest.main(
            [*arguments(kit.root, tests), "--continue-on-collection-errors"],
            plugins=[Installed(judge), plugin],
        )
    finally:
        judge.close()
    # pytest ends its session in order after an error of its own too: the checks until then are no grade.
    broke_off = code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if not reports or (broke_off and not reports[-1].error):
        return 1
    write_report(reports[-1], task.report)
    return 0


def _timer(task: Task, view: Path) -> Timer | None:
    """What times functions of the submission; None where nothing is timed."""
    if task.clock is None:
        return None
    from grader.clock.opening import open_timer  # with torch, which the calculators do without
    from grader.clock.timer import Sides

    try:
        return open_timer(
            task.clock,
            Sides(view, task.staged, task.scratch, task.isolation, task.hide),
            earlier=task.earlier,
            accept_unmeasured=task.accept_unmeasured,
            alone=task.alone,
            wait_s=task.wait_s,
        )
    except DeviceError as error:
        return Untimed(str(error))


class Untimed:
    """Stands for a timer where there is a GPU, and nothing can be timed on it: the points wait for a better one."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def time(self, *_: object) -> TimingVerdict:
        """Say so.

        Raises:
            NeedsGpu: always.
        """
        raise NeedsGpu(f"nothing can be timed on the GPU here: {self.reason}; the points stay pending")


if __name__ == "__main__":
    sys.exit(main())
