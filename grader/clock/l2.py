"""Empties a GPU's L2: a buffer of twice its size is written, and lines that were kept in it are let go.

Not run on a GPU yet: the tests write a buffer on the CPU and call a library that only counts.
"""

import ctypes
from typing import Any, Protocol

from grader.clock.device import DeviceError, DeviceLost

DRIVER = "libcuda.so.1"


class Driver(Protocol):
    """Of CUDA's driver only what resets persisting lines; the context is the one that torch made current."""

    def cuCtxResetPersistingL2Cache(self) -> int:
        """Returns 0 when done."""


def driver() -> Driver | None:
    """The CUDA driver of this process; None where there is none, or one older than CUDA 11, which keeps no lines.

    The driver's own function and not the runtime's `cudaCtxResetPersistingL2Cache`, which calls it: the driver has
    one name wherever torch was installed from.
    """
    try:
        library = ctypes.CDLL(DRIVER)
    except OSError:
        return None
    return library if hasattr(library, "cuCtxResetPersistingL2Cache") else None


class L2:
    """A GPU's L2 as the judge's process empties it."""

    def __init__(self, device: str, size_bytes: int, library: Driver | None = None) -> None:
        """Take the buffer, on `device`: twice `size_bytes`, as an L2 of two halves may hold a line in each.

        Raises:
            DeviceError: there is no room.
            DeviceLost: the device does not answer.
        """
        import torch  # takes seconds, and only a run needs it

        self._torch: Any = torch
        self._device = device
        self._library = library
        try:
            self._buffer = torch.empty(2 * size_bytes, dtype=torch.uint8, device=device)
        except torch.OutOfMemoryError:
            raise DeviceError(
                f"{device}: no room for {2 * size_bytes / 2**20:.0f} MiB to empty L2 with: somebody holds its memory"
            ) from None
        except (RuntimeError, AssertionError) as error:  # the latter from a torch without CUDA
            raise DeviceLost(f"{device}: does not answer ({_first_line(error)})") from None

    def empty(self) -> None:
        """Write the whole buffer, reset persisting lines, and wait until both are done.

        Raises:
            DeviceLost: the device does not answer.
        """
        try:
            self._buffer.zero_()
            if self._library is not None:
                failed = self._library.cuCtxResetPersistingL2Cache()
                if failed:
                    raise DeviceLost(f"{self._device}: persisting lines of L2 stay (CUDA error {failed})")
            if self._device != "cpu":
                self._torch.cuda.synchronize(self._device)
        except RuntimeError as error:
            if isinstance(error, DeviceError):
                raise
            raise DeviceLost(f"{self._device}: does not answer ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
