"""A machine without a GPU as something to time on: the whole protocol runs, on shapes that a core can do in time.

What it says of a submission is no grade: there is no threshold for it in the specs. The kit's tests, and attacks on
the clock, use it.
"""

import math
import platform
import time
from collections.abc import Collection
from contextlib import AbstractContextManager

import numpy as np

from grader.clock.device import Sample
from grader.clock.lock import card_lock
from specs.gpu import Gpu

CPU_CLOCK = Gpu(
    name="cpu-clock",
    dense_tflops={"fp32": 10.0, "bf16": 10.0, "fp16": 10.0},
    memory_label_gb=8,
    memory_bytes=8 << 30,
    memory_bytes_status="estimated",
    hbm_gb_per_s=1000.0,
    sources=(
        "no device: bounds that no core reaches, so that the test against the floor has something to test",
    ),
)
"""Stands for a core where a data sheet is asked for."""


class CpuHost:
    """Implements `Host` on the cores of this machine."""

    device = "cpu"

    def __init__(self, gpu: Gpu = CPU_CLOCK, flush_bytes: int = 8 << 20) -> None:
        """`flush_bytes` are written between calls; most L2 caches are smaller."""
        self.gpu = gpu
        self._buffer = np.zeros(flush_bytes, dtype=np.uint8)

    def fingerprint(self) -> dict[str, str]:
        """The cores' make."""
        return {"gpu": self.gpu.name, "card": f"cores of {platform.machine()}"}

    def exclusive(self, wait_s: float = math.inf) -> AbstractContextManager[None]:
        """One run at a time on the machine's cores."""
        return card_lock("cores", wait_s=wait_s)

    def sample(self, ours: Collection[int]) -> Sample:
        """Both clocks; the witness is not slewed by the time service. No other process counts as a neighbour."""
        return Sample(
            judge_s=time.monotonic(),
            witness_s=time.clock_gettime(time.CLOCK_MONOTONIC_RAW),
            sm_clock_mhz=0.0,
            temperature_c=0.0,
        )

    def flush(self) -> None:
        """Write to more than L2 holds."""
        self._buffer += 1
