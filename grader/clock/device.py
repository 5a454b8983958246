"""What a timing run needs of a device, and what can go wrong with one: no part of it runs a student's code here."""

from collections.abc import Sequence
from enum import IntFlag
from typing import Literal, Protocol

from grader.outcome import Model
from specs.timing import TimedShape

What = Literal["baseline", "submission", "empty"]


class Throttle(IntFlag):
    """Why a GPU's clocks are where they are; values as in NVML's `nvmlClocksEventReasons` (nvml.h)."""

    NONE = 0x0
    GPU_IDLE = 0x1
    APPLICATION_CLOCKS = 0x2
    POWER_CAP = 0x4
    HW_SLOWDOWN = 0x8
    SYNC_BOOST = 0x10
    SW_THERMAL = 0x20
    HW_THERMAL = 0x40
    HW_POWER_BRAKE = 0x80
    DISPLAY_CLOCKS = 0x100


# Clocks that somebody set or that rest: both sides of a comparison get the same.
HARMLESS = Throttle.GPU_IDLE | Throttle.APPLICATION_CLOCKS | Throttle.DISPLAY_CLOCKS

_WORDS = {
    Throttle.POWER_CAP: "power cap",
    Throttle.HW_SLOWDOWN: "hardware slowdown",
    Throttle.SYNC_BOOST: "sync boost",
    Throttle.SW_THERMAL: "too warm, slowed by the driver",
    Throttle.HW_THERMAL: "too warm, slowed by the hardware",
    Throttle.HW_POWER_BRAKE: "power brake",
}


class Sample(Model):
    """The device and both clocks at one moment."""

    judge_s: float
    """The clock that times are taken with, seconds."""
    witness_s: float
    """Another clock, which what moves the first one does not move: the device's, or one on another source."""
    sm_clock_mhz: float
    temperature_c: float
    throttle: int = 0
    """Bits of `Throttle`; a newer driver may set some that it does not name."""
    neighbours: tuple[int, ...] = ()
    """Process ids on the device beside those that the judge started."""

    @property
    def trouble(self) -> str:
        """Why a measurement beside this sample does not count, in words; "" where it does."""
        if self.neighbours:
            return "another process was on the GPU"
        harmful = self.throttle & ~int(HARMLESS)
        if harmful:
            named = [words for reason, words in _WORDS.items() if reason & harmful]
            return f"the GPU throttled ({', '.join(named) or f'reason {harmful:#x}'})"
        return ""


class DeviceError(RuntimeError):
    """The device, the baseline or the judge's clock failed: nobody's fault is shown; the message is for a person."""


class OutOfMemory(DeviceError):
    """The baseline did not fit on the device."""


class DeviceLost(DeviceError):
    """The device is gone: fallen off the bus, reset, or its process died."""


class ClockFault(DeviceError):
    """The judge's clock cannot be trusted: it jumped, or a time is no positive number."""


class Device(Protocol):
    """One GPU held by the judge, with a process for the baseline and one for the submission.

    What a submission does wrong in a call (a crash, a wrong answer, a time-out) is no `DeviceError`: raise the
    `Fault` of grader.calls, which passes through the run and becomes the check's outcome.
    """

    def time_block(self, what: What, shape: TimedShape, calls: int) -> Sequence[float]:
        """Run `calls` calls one after the other, and return the seconds of each by the judge's own clock.

        Every call gets fresh inputs and finds L2 emptied, both outside its time, and its output is checked after.
        `empty` runs the same round trip without any work on the device: what the clock itself costs. Nothing of the
        other side may be running: its process is waited for or stopped before the first call.

        Raises:
            OutOfMemory: the baseline did not fit.
            DeviceLost: the device does not answer.
        """

    def sample(self) -> Sample:
        """Read clocks, temperature, throttle reasons and neighbours now.

        Raises:
            DeviceLost: the device does not answer.
        """

    def flush_l2(self) -> None:
        """Empty L2, before a block; between the calls of one, `time_block` sees to it.

        Raises:
            DeviceLost: the device does not answer.
        """
