"""A GPU that is not there: triton's driver and torch's questions answered with a target's figures.

CPU tensors flow through, kernels compile, and a launch does nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from .machine_code import resources
from .targets import REGISTERS_PER_SM, THREADS_PER_BLOCK, WARP_THREADS, Target, target_named

# The memory clock and bus width of an H100 SXM as its driver reports them; only performance models read them.
CLOCKS = {"sm_clock_rate": 1_980_000, "mem_clock_rate": 2_619_000, "mem_bus_width": 5120}


def _benchmark(kernel_call: Any, *, quantiles: Sequence[float] = (0.5,), **kwargs: Any) -> list[float]:
    """Run the launch once and say that it took a millisecond: no clock decides anything here."""
    kernel_call()
    return [1.0 for _ in quantiles]


class Questions:
    """What kernels and triton ask `driver.active.utils`."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def get_device_properties(self, device: int = 0) -> dict[str, int]:
        """Return the properties that the CUDA driver gives triton, for the target's GPU."""
        return {
            "max_shared_mem": self.target.shared_bytes_per_block,
            "max_num_regs": REGISTERS_PER_SM,
            "multiprocessor_count": self.target.gpu.sms or 1,
            "warpSize": WARP_THREADS,
            **CLOCKS,
        }

    def load_binary(
        self, name: str, cubin: bytes, shared: int, device: int
    ) -> tuple[int, int, int, int, int]:
        """Return (module, function, registers, spilled words, most threads) as loading it on a GPU would."""
        taken = resources(cubin, self.target)
        return 0, 0, taken.registers, taken.spill_bytes // 4, THREADS_PER_BLOCK


class NoLaunch:
    """In the place of the code that starts a kernel on a GPU."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self.src = src

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        return None


def _stand_in_driver(target: Target) -> Any:
    import torch
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class StandInDriver(DriverBase):  # type: ignore[misc]  # triton has no types
        """Device 0, stream 0, CPU tensors."""

        def __init__(self) -> None:
            self.utils = Questions(target)
            self.launcher_cls = NoLaunch

        @classmethod
        def is_active(cls) -> bool:
            return True

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", target.capability, WARP_THREADS)

        def get_active_torch_device(self) -> Any:
            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch.cpu

        def get_benchmarker(self) -> Any:
            return _benchmark

        def get_current_device(self) -> int:
            return 0

        def set_current_device(self, device: int) -> None:
            return None

        def get_current_stream(self, device: int | None = None) -> int:
            return 0

        def get_device_capability(self, device: int = 0) -> tuple[int, int]:
            return divmod(target.capability, 10)

        def get_empty_cache_for_benchmark(self) -> Any:
            return torch.empty(1, dtype=torch.int8)

        def clear_cache(self, cache: Any) -> None:
            return None

    return StandInDriver()


def _properties(target: Target) -> SimpleNamespace:
    major, minor = divmod(target.capability, 10)
    card = target.gpu
    return SimpleNamespace(
        name=card.name,
        major=major,
        minor=minor,
        multi_processor_count=card.sms or 1,
        total_memory=card.memory_bytes,
        warp_size=WARP_THREADS,
        max_threads_per_multi_processor=target.warps_per_sm * WARP_THREADS,
        regs_per_multiprocessor=REGISTERS_PER_SM,
        shared_memory_per_block=48 * 2**10,
        shared_memory_per_block_optin=target.shared_bytes_per_block,
        shared_memory_per_multiprocessor=target.shared_bytes_per_sm,
        L2_cache_size=card.l2_bytes or 0,
    )


@contextmanager
def stand_in_device(target: str = "sm_90") -> Iterator[Target]:
    """Make triton and `torch.cuda`'s questions see the target's GPU, and put everything back afterwards.

    Wrap the import of a submission in it too: many ask for the number of SMs, or for the device, at import.
    `torch.cuda.is_available()` stays False, so nobody moves tensors to a GPU that is not there.

    Raises:
        UnknownTarget: there is no such target.
    """
    import torch
    from triton.runtime import driver

    wanted = target_named(target)
    answers: dict[str, Any] = {
        "get_device_properties": lambda device=None: _properties(wanted),
        "get_device_capability": lambda device=None: divmod(wanted.capability, 10),
        "get_device_name": lambda device=None: wanted.gpu.name,
        "current_device": lambda: 0,
        "synchronize": lambda device=None: None,
    }
    # The former driver is put back as it was, None included: to ask for `active` would look for a GPU.
    former = driver.__dict__.get("_active")
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        driver.set_active(_stand_in_driver(wanted))
        try:
            yield wanted
        finally:
            driver.set_active(former)
