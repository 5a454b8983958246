"""NVIDIA's cards as their driver's management library (NVML) tells: what there is, and how it is now. No torch.

Needs nvidia-ml-py (the `gpu` extra). Not run on a GPU yet: the tests have an NVML of their own.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

from grader.clock.device import DeviceError, DeviceLost
from grader.outcome import Model
from specs.gpu import Gpu, gpu_of_device

# nvml.h, nvmlReturn_t
_NOT_SUPPORTED = 3
_NO_PERMISSION = 4
_FUNCTION_NOT_FOUND = 13
_GONE = frozenset(
    {9, 15, 16, 999}
)  # driver not loaded, lost, needs a reset, unknown: what is left of one after an Xid


class NoNvml(Exception):
    """NVML cannot be asked here; the text says why, in one line, and the remedy where there is one."""


class Card(Model):
    """One GPU as its driver tells. What a card or its driver does not tell is None."""

    index: int
    """By PCI address, as nvidia-smi counts; CUDA may count otherwise."""
    minor: int | None = None
    """N of its file /dev/nvidiaN."""
    uuid: str
    name: str
    """The driver's, `NVIDIA H100 80GB HBM3`."""
    driver: str
    memory_bytes: int
    used_bytes: int
    """What the driver keeps for itself is in it."""
    sm_clock_mhz: float
    temperature_c: float
    throttle: int
    """Bits of `grader.clock.device.Throttle`."""
    processes: tuple[int, ...]
    """Which compute on it, by the numbers that the host gives them."""
    max_sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_limit_w: float | None = None
    persistence: bool | None = None
    """Off: the driver unloads with the last process, and the next one waits for it to start."""
    ecc: bool | None = None
    uncorrected_errors: int | None = None
    """Of the memory, since the driver was loaded."""
    mig: bool = False
    """Cut into slices that share bandwidth and clocks."""

    @property
    def gpu(self) -> Gpu | None:
        """Its sheet; None where specs/gpus.yaml has none of that name."""
        return gpu_of_device(self.name)


def load() -> Any:
    """NVML, ready to be asked.

    Raises:
        NoNvml: it is not installed, or there is no NVIDIA driver here.
    """
    try:
        import pynvml
    except ImportError:
        raise NoNvml("needs nvidia-ml-py: pip install -e '.[gpu]'") from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NoNvml(f"no NVIDIA driver answers ({error})") from None
    return pynvml


def find_card(nvml: Any = None) -> Card | None:
    """The card that CUDA calls device 0 in this environment; None where there is none or NVML cannot be asked.

    Raises:
        DeviceError: a card does not answer, or CUDA_VISIBLE_DEVICES does not say which one it means.
    """
    try:
        found = cards(nvml or load())
    except NoNvml:
        return None
    seen = visible(
        found, os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    )
    return seen[0] if seen else None


def cards(nvml: Any) -> tuple[Card, ...]:
    """All cards of the machine.

    Raises:
        DeviceError: one does not answer.
    """
    count: int = ask(nvml, nvml.nvmlDeviceGetCount)
    return tuple(read(nvml, number) for number in range(count))


def visible(found: Sequence[Card], wanted: str | None, by_address: bool) -> tuple[Card, ...]:
    """The cards that CUDA shows, in its order.

    Args:
        wanted: CUDA_VISIBLE_DEVICES: numbers or uuids, up to the first that means nothing; None: all.
        by_address: CUDA_DEVICE_ORDER is PCI_BUS_ID. Else CUDA counts the fastest first, which NVML does not tell.

    Raises:
        DeviceError: the cards are of several kinds, and numbers do not say which one is meant.

    Source: CUDA C++ Programming Guide, environment variables.
    """
    names = [each.strip() for each in wanted.split(",")] if wanted is not None else []
    by_number = wanted is None or any(each.isdecimal() for each in names)
    if by_number and not by_address and len({each.name for each in found}) > 1:
        raise DeviceError(
            "cards of several kinds are here, and CUDA numbers the fastest first: name one by its uuid in "
            f"CUDA_VISIBLE_DEVICES ({', '.join(f'{each.uuid}: {each.name}' for each in found)})"
        )
    if wanted is None:
        return tuple(found)
    chosen: list[Card] = []
    for name in names:
        match = [
            each
            for each in found
            if (
                name == str(each.index)
                if name.isdecimal()
                else name.startswith("GPU-") and each.uuid.startswith(name)
            )
        ]
        if len(match) != 1 or match[0] in chosen:
            break
        chosen += match
    return tuple(chosen)


def read(nvml: Any, index: int) -> Card:
    """One card now.

    Raises:
        DeviceLost: it does not answer.
        DeviceError: it does not tell what every card tells.
    """
    handle = ask(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    memory = ask(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    ecc = tell(nvml, nvml.nvmlDeviceGetEccMode, handle)
    mig = tell(nvml, nvml.nvmlDeviceGetMigMode, handle)
    power_mw = tell(nvml, nvml.nvmlDeviceGetPowerManagementLimit, handle)
    persistence = tell(nvml, nvml.nvmlDeviceGetPersistenceMode, handle)
    return Card(
        index=index,
        minor=tell(nvml, nvml.nvmlDeviceGetMinorNumber, handle),
        uuid=_text(ask(nvml, nvml.nvmlDeviceGetUUID, handle)),
        name=_text(ask(nvml, nvml.nvmlDeviceGetName, handle)),
        driver=_text(ask(nvml, nvml.nvmlSystemGetDriverVersion)),
        memory_bytes=memory.total,
        used_bytes=memory.used,
        sm_clock_mhz=ask(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
        temperature_c=ask(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
        throttle=throttle(nvml, handle),
        processes=processes(nvml, handle),
        max_sm_clock_mhz=tell(nvml, nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_SM),
        memory_clock_mhz=tell(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
        power_limit_w=None if power_mw is None else power_mw / 1e3,
        persistence=None if persistence is None else bool(persistence),
        ecc=None if ecc is None else bool(ecc[0]),
        uncorrected_errors=uncorrected_errors(nvml, handle),
        mig=mig is not None and bool(mig[0]),
    )


def throttle(nvml: Any, handle: Any) -> int:
    """Why the clocks are where they are, as bits; drivers before 535 have the older name of the same function.

    Raises:
        DeviceError: the card does not tell.
    """
    newer = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    bits = tell(nvml, newer, handle) if newer else None
    return int(ask(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle) if bits is None else bits)


def processes(nvml: Any, handle: Any) -> tuple[int, ...]:
    """Numbers of the processes that compute on the card, those behind an MPS server included.

    A desktop that only draws is not among them; what it costs shows as noise.

    Raises:
        DeviceError: the card does not tell.
    """
    found = {each.pid for each in ask(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle)}
    shared = tell(nvml, nvml.nvmlDeviceGetMPSComputeRunningProcesses, handle)
    return tuple(sorted(found | {each.pid for each in shared or ()}))


def uncorrected_errors(nvml: Any, handle: Any) -> int | None:
    """How often memory was read wrong since the driver was loaded; None where the card does not watch for it."""
    uncorrected, since_load = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
    count: int | None = tell(nvml, nvml.nvmlDeviceGetTotalEccErrors, handle, uncorrected, since_load)
    return count


def ask(nvml: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """What NVML answers.

    Raises:
        DeviceLost: the card or its driver is gone.
        DeviceError: it does not answer that.
    """
    try:
        return function(*arguments)
    except nvml.NVMLError as error:
        code = getattr(error, "value", None)
        if code in _GONE:
            raise DeviceLost(f"the GPU does not answer any more ({error}): dmesg may tell more") from None
        raise DeviceError(f"{function.__name__}: the GPU's driver refuses ({error})") from None


def tell(nvml: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """The same, or None for what this card or driver does not tell.

    Raises:
        DeviceError: it fails otherwise.
    """
    try:
        return function(*arguments)
    except nvml.NVMLError as error:
        if getattr(error, "value", None) in (_NOT_SUPPORTED, _NO_PERMISSION, _FUNCTION_NOT_FOUND):
            return None
        return ask(nvml, function, *arguments)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
