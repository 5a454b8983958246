"""What a timing run needs of the machine under it: a card's sheet, a look at clocks and neighbours, an empty L2."""

from collections.abc import Collection
from typing import Protocol

from grader.clock.device import Sample
from specs.gpu import Gpu


class Host(Protocol):
    """The machine under a timing run: its clocks and its cache. All of it belongs to the judge's own process."""

    device: str
    """torch's name: `cpu`, or `cuda:0`."""
    gpu: Gpu
    """The card's sheet in specs/gpus.yaml: what the floor is reckoned from."""

    def sample(self, ours: Collection[int]) -> Sample:
        """Read clocks, temperature, throttle reasons and neighbours now.

        Args:
            ours: process ids that the judge started. They and what descends from them are no neighbours, nor is
                the judge itself.

        Raises:
            DeviceLost: the device does not answer.
            DeviceError: it answers, and says that it cannot be trusted.
        """

    def flush(self) -> None:
        """Empty L2 from the judge's own process.

        Raises:
            DeviceLost: the device does not answer.
            DeviceError: there is no room for what is written to empty it.
        """
