"""`Host` on an NVIDIA card: both clocks, what NVML says of the card beside them, and an L2 that the judge empties.

Which processes are neighbours. NVML lists every process on the card by the number that the host's first process
namespace gives it (NVIDIA/nvidia-docker, issue 1483: the driver knows no other). A sandbox has a namespace of its own,
but is started from outside, where its processes have such numbers too. In a container that is not so: the numbers are
of another namespace than the judge's, or there are none, and nobody can be told from the judge's own. There a run
is refused, unless whoever starts it says that the card is this container's alone.

The second clock is CLOCK_MONOTONIC_RAW. It and the first count the same oscillator, but nothing slews this one, no
library computes it, and a judge whose first clock was replaced or stepped still has it. What it does not see is an
oscillator that is wrong itself. CUDA events would count the card's own; they need the card to be idle at that moment,
which a submission can prevent, and then a left-over kernel would look like a clock that jumped.

Not run on a GPU yet: the tests have an NVML of their own. What a sample costs on a real one is not known.
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from grader.clock import nvml as driver
from grader.clock.device import DeviceError, Sample
from grader.clock.l2 import L2
from grader.clock.l2 import driver as cuda_driver
from grader.clock.lock import card_lock
from grader.sandbox.tree import descendants
from specs.gpu import Gpu

_FIRST_PID_NAMESPACE = 0xEFFFFFFC  # PROC_PID_INIT_INO in the kernel's proc_ns.h


def neighbours_unseen(namespace: Path = Path("/proc/self/ns/pid")) -> str:
    """Why other processes on a card cannot be told from the judge's own here; "" where they can."""
    try:
        if namespace.stat().st_ino == _FIRST_PID_NAMESPACE:
            return ""
    except OSError:
        return "process numbers cannot be read here"
    return "this is a container with process numbers of its own (start it with --pid=host)"


class NvmlHost:
    """One whole card, watched through NVML."""

    device = "cuda:0"
    """What CUDA shows first where `card` is the one of `find_card`; `exclusive` looks whether it is."""

    def __init__(
        self,
        card: driver.Card,
        *,
        alone: bool = False,
        family: int | None = None,
        nvml: Any = None,
        take: Callable[[driver.Card], Callable[[], None]] | None = None,
        unseen: Callable[[], str] = neighbours_unseen,
    ) -> None:
        """Only looks at the card: CUDA and its memory are taken in `exclusive`.

        Args:
            alone: whoever starts the run vouches that nobody else is on the card, where that cannot be seen.
            family: the process below which runs take turns, a cohort's grader: what its other judges still hold of
                the card rests while the card is this one's, and makes nobody a neighbour.
            nvml, take, unseen: stand-ins for tests.

        Raises:
            DeviceLost: the card does not answer.
            DeviceError: nothing can be timed on it, as when it is cut into slices, unknown to specs/gpus.yaml, or
                neighbours cannot be seen.
        """
        reason = why_not(card, alone=alone, unseen=unseen())
        sheet = card.gpu
        if reason or sheet is None:
            raise DeviceError(f"{card.name}: {reason}")
        self.card = card
        self.gpu: Gpu = sheet
        self._nvml = nvml or driver.load()
        self._handle = driver.ask(self._nvml, self._nvml.nvmlDeviceGetHandleByUUID, card.uuid)
        self._watched = not unseen()
        self._take = take or _take
        self._empty: Callable[[], None] | None = None
        self._errors = 0
        self._ours: set[int] = {os.getpid(), *([] if family is None else [family])}

    def fingerprint(self) -> dict[str, str]:
        """As `Host.fingerprint`."""
        card = self.card
        return {"gpu": self.gpu.name, "card": card.name, "uuid": card.uuid, "driver": card.driver}

    @contextlib.contextmanager
    def exclusive(
        self, wait_s: float = math.inf, say: Callable[[str], None] = lambda _: None
    ) -> Iterator[None]:
        """As `Host.exclusive`, for this card: its lock, then a CUDA context and twice its L2 of memory.

        A process that waits holds nothing of the card, and one that is done gives its memory back; the context, a few
        hundred megabytes, ends with the process.

        Raises:
            DeviceError: the lock is no lock, the card is not CUDA's first, or there is no room.
        """
        with card_lock(self.card.uuid, wait_s=wait_s, say=say):
            self._errors = driver.uncorrected_errors(self._nvml, self._handle) or 0
            self._empty = self._take(self.card)
            try:
                yield
            finally:
                self._empty = None
                give_back()

    def flush(self) -> None:
        """As `Host.flush`; only while the card is held.

        Raises:
            DeviceLost: the card does not answer.
        """
        if self._empty is None:
            raise DeviceError(f"{self.card.name}: is not held by this run")
        self._empty()

    def sample(self, ours: Collection[int]) -> Sample:
        """As `Host.sample`. The card is read first: as soon after the work as can be, before its clocks rest.

        Raises:
            DeviceLost: the card does not answer.
            DeviceError: it read its memory wrong since the run began.
        """
        nvml, handle = self._nvml, self._handle
        reasons = driver.throttle(nvml, handle)
        clock_mhz = driver.ask(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM)
        warm_c = driver.ask(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU)
        neighbours = self._neighbours(ours)
        errors = driver.uncorrected_errors(nvml, handle) or 0
        if errors > self._errors:
            raise DeviceError(
                f"{self.card.name}: read its memory wrong {errors - self._errors} times during the run (ECC, "
                "uncorrected): nothing of it counts, and staff should look at the card"
            )
        return Sample(
            judge_s=time.monotonic(),
            witness_s=time.clock_gettime(time.CLOCK_MONOTONIC_RAW),
            sm_clock_mhz=clock_mhz,
            temperature_c=warm_c,
            throttle=reasons,
            neighbours=neighbours,
        )

    def _neighbours(self, ours: Collection[int]) -> tuple[int, ...]:
        """Whoever is on the card and neither the judge, nor started by it, nor below one of these.

        Who was ours once stays ours: the driver may list a process a moment longer than the kernel does.
        """
        if not self._watched:
            return ()
        found = driver.processes(self._nvml, self._handle)
        self._ours.update(ours)
        if not self._ours.issuperset(found):
            self._ours.update(each.pid for each in descendants(self._ours))
        return tuple(pid for pid in found if pid not in self._ours)


def why_not(card: driver.Card, *, alone: bool = False, unseen: str = "") -> str:
    """Why nothing can be timed on a card; "" where it can."""
    if card.mig:
        return "is cut into slices (MIG), which share bandwidth and clocks; time on a whole card (nvidia-smi -mig 0)"
    if card.gpu is None:
        return "is no card of specs/gpus.yaml (device_names there), so that no floor is known for it"
    if unseen and not alone:
        return f"neighbours cannot be seen: {unseen}; or vouch with --alone that the card is yours"
    return ""


def give_back() -> None:
    """Let go of what torch keeps of the card's memory for later."""
    import torch

    torch.cuda.empty_cache()  # does nothing where CUDA was never started


def _take(card: driver.Card) -> Callable[[], None]:
    """What empties the card's L2, once it is CUDA's here.

    Raises:
        DeviceError: CUDA's first device is another card, or none.
    """
    import torch  # takes seconds, and only a run needs it

    if not torch.cuda.is_available():
        raise DeviceError(f"{card.name}: torch {torch.__version__} shows no card: does it have CUDA?")
    shown = torch.cuda.get_device_properties(0)
    if card.uuid.removeprefix("GPU-") != str(shown.uuid).removeprefix("GPU-"):
        raise DeviceError(f"{card.name} ({card.uuid}): CUDA's first device is another card, {shown.name}")
    known = card.gpu.l2_bytes if card.gpu is not None else None
    return L2(NvmlHost.device, max(int(shown.L2_cache_size), known or 0), cuda_driver()).empty
