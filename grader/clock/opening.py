"""Opens what a timing run needs: a GPU of this machine or its cores, and both sides of the run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from grader.clock.cpu_host import CpuHost
from grader.clock.host import Host
from grader.clock.timer import Sides, Timer
from grader.clock.verdict import TimingVerdict
from grader.sandbox import Level


def open_timer(
    clock: Literal["gpu", "cpu"],
    *,
    view: Path,
    submission: Path,
    scratch: Path,
    level: Level,
    hide: tuple[Path, ...] = (),
    earlier: Mapping[str, TimingVerdict] | None = None,
    accept_unmeasured: bool = False,
) -> Timer | None:
    """A timer for one submission; None where there is no GPU after all.

    Args:
        view: what the submission may see of the kit.
        scratch: a folder of the judge's own.
        earlier: verdicts of earlier attempts, by the check's name.
    """
    host: Host = CpuHost()
    sides = Sides(view, submission, scratch, level, hide)
    return Timer(host, sides, earlier or {}, accept_unmeasured)
