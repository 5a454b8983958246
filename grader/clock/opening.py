"""Opens what a timing run needs: a GPU of this machine or its cores, and both sides of the run."""

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from grader.clock import nvml
from grader.clock.cpu_host import CpuHost
from grader.clock.grading import Plan
from grader.clock.host import Host
from grader.clock.nvml_host import NvmlHost
from grader.clock.timer import Sides, Timer
from grader.clock.verdict import TimingVerdict

_SHARED_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
"""Of all cards together; those that there are."""


def open_timer(
    clock: Literal["gpu", "cpu"],
    sides: Sides,
    *,
    earlier: Mapping[str, TimingVerdict] | None = None,
    accept_unmeasured: bool = False,
    alone: bool = False,
    wait_s: float = math.inf,
    plan: Plan | None = None,
) -> Timer | None:
    """A timer for one submission; None where there is no GPU after all.

    Args:
        sides: both processes; which device they get is set here.
        earlier: verdicts of earlier attempts, by the check's name.
        accept_unmeasured: whether a threshold that nobody has measured decides points.
        wait_s: how long to wait at most for a card that another run holds.
        alone: whoever starts the run vouches that nobody else is on the card, where that cannot be seen.

    Raises:
        DeviceError: there is a GPU, and nothing can be timed on it.
    """
    host: Host = CpuHost()
    if clock == "gpu":
        card = nvml.find_card()
        if card is None:
            return None
        sides = shown_only(sides, card)
        host = NvmlHost(card, alone=alone, family=os.getppid())  # the grader, which starts all judges
    return Timer(host, sides, earlier or {}, accept_unmeasured, plan or Plan(), wait_s)


def shown_only(sides: Sides, card: nvml.Card) -> Sides:
    """Both processes see this card and no other one."""
    return replace(sides, devices=device_files(card), variables={"CUDA_VISIBLE_DEVICES": card.uuid})


def device_files(card: nvml.Card, folder: Path = Path("/dev")) -> tuple[Path, ...]:
    """The files that a process needs to open for one card, and for no other one; those that there are."""
    own = [] if card.minor is None else [f"nvidia{card.minor}"]
    names = [*own, *_SHARED_DEVICES]
    return tuple(folder / name for name in names if (folder / name).exists())
