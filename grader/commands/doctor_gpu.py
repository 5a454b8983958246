"""What `grader doctor` says of GPUs: each card as it is now, whether a time taken here means much, and by which row.

Not run on a GPU yet: the tests have an NVML of their own.
"""

import importlib.metadata
import subprocess
from collections.abc import Callable
from typing import Any

from grader.clock import nvml
from grader.clock.device import DeviceError, Sample
from grader.clock.nvml_host import neighbours_unseen, why_not
from specs.assignment import assignments
from specs.timing import Timing

Line = tuple[str, bool, str]
"""What was looked at, whether it is well, what to say."""

NO_CARD: Line = ("gpu", False, "none here; only points for speed wait for one")


def gpu_lines(
    load: Callable[[], Any] = nvml.load, unseen: Callable[[], str] = neighbours_unseen
) -> list[Line]:
    """One line where there is no card; else one for each, whether timing is trustworthy, and one for each row.

    Args:
        load, unseen: stand-ins for tests.
    """
    try:
        library = load()
    except nvml.NoNvml as error:
        return [_by_nvidia_smi(str(error))]
    try:
        found = nvml.cards(library)
        card = nvml.find_card(library)
    except DeviceError as error:
        return [("gpu", False, str(error))]
    if not found:
        return [NO_CARD]
    lines: list[Line] = [(f"gpu {each.index}", True, _sheet(each)) for each in found]
    if card is None:
        return [*lines, ("timing", False, "CUDA_VISIBLE_DEVICES shows none of these cards")]
    reasons = _doubts(card, unseen())
    which = f"gpu {card.index}"
    lines.append(
        ("timing", not reasons, f"{which}: {'; '.join(reasons) or 'times taken now can be trusted'}")
    )
    return lines + [_row(card, name, timing) for name, timing in _timed()]


def _by_nvidia_smi(why: str) -> Line:
    """What can be said without NVML."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return NO_CARD
    cards = done.stdout.strip().splitlines()
    if done.returncode or not cards:
        return ("gpu", False, "nvidia-smi sees no card; only points for speed wait for one")
    return ("gpu", False, f"{'; '.join(cards)}; nothing can be timed: {why}")


def _sheet(card: nvml.Card) -> str:
    """`NVIDIA H100 80GB HBM3 (h100-sxm), driver 560.1, 1.0 of 80.0 GiB in use, ...`"""
    most = f" of {card.max_sm_clock_mhz:.0f}" if card.max_sm_clock_mhz else ""
    memory_clock = f", memory {card.memory_clock_mhz:.0f} MHz" if card.memory_clock_mhz else ""
    limit = f", limit {card.power_limit_w:.0f} W" if card.power_limit_w else ""
    return (
        f"{card.name} ({card.gpu.name if card.gpu else 'not in specs'}), driver {card.driver}, "
        f"{card.used_bytes / 2**30:.1f} of {card.memory_bytes / 2**30:.1f} GiB in use, "
        f"SM {card.sm_clock_mhz:.0f}{most} MHz{memory_clock}, {card.temperature_c:.0f} °C{limit}, "
        f"ECC {_switch(card.ecc)}, persistence {_switch(card.persistence)}, MIG {_switch(card.mig)}"
    )


def _switch(state: bool | None) -> str:
    return "unknown" if state is None else "on" if state else "off"


def _doubts(card: nvml.Card, unseen: str) -> list[str]:
    """Why a time taken on the card now would mean little, each with what to do."""
    doubts = [why_not(card, unseen=unseen)]
    if card.processes and not unseen:
        shown = ", ".join(map(str, card.processes[:5])) + (", ..." if len(card.processes) > 5 else "")
        doubts.append(f"somebody computes on it (process {shown})")
    doubts.append(
        Sample(
            judge_s=0,
            witness_s=0,
            sm_clock_mhz=card.sm_clock_mhz,
            temperature_c=card.temperature_c,
            throttle=card.throttle,
        ).trouble
    )
    if card.uncorrected_errors:
        doubts.append(
            f"it read its memory wrong {card.uncorrected_errors} times (ECC): have it reset or replaced"
        )
    if card.persistence is False:
        doubts.append("persistence is off, clocks fall between runs: nvidia-smi -pm 1")
    if _torch_without_cuda():
        doubts.append("this torch was built without CUDA: install the one from PyPI")
    return [each for each in doubts if each]


def _torch_without_cuda() -> bool:
    """By its version alone, as importing it takes seconds; an absent one is told elsewhere."""
    try:
        return importlib.metadata.version("torch").endswith("+cpu")
    except importlib.metadata.PackageNotFoundError:
        return False


def _timed() -> list[tuple[str, Timing]]:
    return [
        (f"{name}.{exercise.id}", exercise.timing)
        for name, spec in assignments().items()
        for exercise in spec.exercises
        if exercise.timing is not None
    ]


def _row(card: nvml.Card, exercise: str, timing: Timing) -> Line:
    """By which row of thresholds an exercise gets its points on this card."""
    name = card.gpu.name if card.gpu else card.name
    status = timing.status(name)
    row = timing.curve(name)
    if row is not None and row.measured is not None:
        found = row.measured
        whose = "" if status == "measured" else f", whose ratios hold for {name} too"
        text = f"{exercise}: row measured on {found.gpu} by {found.who}, {found.measured_on}{whose}"
        return ("thresholds", True, text)
    what = (
        f"no row for {name}"
        if status == "none"
        else f"the row for {name} was never measured (grader calibrate)"
    )
    return ("thresholds", False, f"{exercise}: {what}; its points stay pending")
