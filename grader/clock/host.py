"""The machine under a timing run: its clocks and its cache. `cpu_host` is one without a GPU, `nvml_host` one with."""

import math
from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Protocol

from grader.clock.device import Sample
from specs.gpu import Gpu


class Host(Protocol):
    """What the judge itself reads and does between the blocks of a run, in its own process."""

    device: str
    """torch's name of what is timed: "cpu" or "cuda:0"."""
    gpu: Gpu
    """Its data sheet: names the threshold, and gives the time below which nobody is believed."""

    def fingerprint(self) -> dict[str, str]:
        """What a verdict says of the device: `gpu` as specs/gpus.yaml names it, and what tells it from others."""

    def exclusive(self, wait_s: float = math.inf) -> AbstractContextManager[None]:
        """Hold it for one run at a time, waiting at most so long for whoever has it.

        Raises:
            DeviceError: it cannot be held.
        """

    def sample(self, ours: Collection[int]) -> Sample:
        """Clocks, temperature, throttle reasons, and who is on the card beside the judge and its processes.

        Args:
            ours: ids of processes that the judge started; what descends from them is no neighbour either.

        Raises:
            DeviceLost: the card does not answer.
            DeviceError: it answers, and says that it cannot be trusted.
        """

    def flush(self) -> None:
        """Empty the cache that all processes share, from the judge's own.

        Raises:
            DeviceLost: the card does not answer.
        """
