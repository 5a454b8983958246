"""A worker that is called between the judge's clock ticks, and the memory that its outputs come back in."""

import fcntl
import mmap
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from grader.calls.faults import CheckFailed, KernelFinding, Tampered
from grader.calls.own_kernels import library_work
from grader.calls.runner import Request
from grader.calls.worker import Worker
from grader.clock.workloads import Pools, TimedCall
from grader.printable import printable

LOAD_S = 120.0
"""Importing the file, CUDA's start included."""
STAGE_S = 20.0
"""Taking a pool, or handing an output over."""
_MOST_OUTPUTS = 16
_DTYPES = {str(each).removeprefix("torch."): each for each in (torch.float32, torch.float16, torch.bfloat16)}


class SharedMemory:
    """Memory that one worker writes and the judge reads. Sealed: the worker cannot take it away under the judge."""

    def __init__(self, size_bytes: int) -> None:
        self.descriptor = os.memfd_create("rooflab-outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size_bytes)
        fcntl.fcntl(
            self.descriptor,
            fcntl.F_ADD_SEALS,
            fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL,
        )
        self._map = mmap.mmap(self.descriptor, size_bytes)
        self.size_bytes = size_bytes

    def read(self, start: int, size: int) -> bytearray:
        """A copy: what is compared is not changed any more."""
        return bytearray(self._map[start : start + size])

    def close(self) -> None:
        """Give it back."""
        self._map.close()
        os.close(self.descriptor)


class TimedWorker:
    """One side of a timing run: a process with one function, staged inputs, and an output to look at."""

    def __init__(
        self,
        start: Callable[[int], Worker],
        request: Request,
        shared: SharedMemory,
        device: str,
        their_device: str,
    ) -> None:
        """Start the worker and import its file.

        Args:
            start: a worker in the lane `timed`, given the descriptor of the memory for its outputs.
            request: the function to call; its verb, arguments and options are of no meaning.
            device: where outputs are compared, as torch names it in this process.
            their_device: the device that is timed, as torch names it in the worker.

        Raises:
            Fault: the file cannot be imported.
            WorkerNotStarted, NeedsTorch, NeedsTriton: as Worker does.
        """
        self._request = replace(request, verb="timed", lane="timed", args=(), kwargs={}, metered=False)
        self._shared, self._device, self._their_device = shared, device, their_device
        self.worker = start(shared.descriptor)
        try:
            self.worker.ask("load", self._request, LOAD_S)
        except BaseException:
            self.close()
            raise

    def give_pools(self, pools: Pools) -> None:
        """Hand over all pools, one by one: they stay for the worker's life.

        Raises:
            Fault: the worker died, or has no room.
        """
        for name, pool in pools.by_name.items():
            self._stage({name: pool.cpu()}, pools=True)

    def call(
        self, call: TimedCall, limit_s: float, *, empty: bool = False, own_kernels: bool = False
    ) -> tuple[float, Tensor]:
        """One timed call: (seconds by the judge's clock, sketch).

        Args:
            empty: do all of it but the call itself: what the clock and the sketch cost.
            own_kernels: PyTorch must not do the work.

        Raises:
            Fault: for what the function or its process did.
        """
        if call.staged:
            self._stage({name: tensor.cpu() for name, tensor in call.staged.items()}, pools=False)
        options = {
            "arguments": call.arguments,
            "weights": call.weights,
            "empty": empty,
            "own_kernels": own_kernels,
        }
        reply = self.worker.ask("timed", replace(self._request, options=options), limit_s)
        took_s = self.worker.last_round_trip_s
        sketched = reply.get("sketch") if isinstance(reply, dict) else None
        ops = reply.get("ops") if isinstance(reply, dict) else None
        if not isinstance(sketched, Tensor) or not isinstance(ops, list) or sketched.dtype != torch.float32:
            raise _wrong_form()
        by_torch = library_work(map(str, ops[:1000])) if own_kernels else []
        if by_torch:
            raise KernelFinding(
                f"{self._request.function} leaves the work to PyTorch as it is timed: {', '.join(by_torch)}; it "
                "belongs into your kernel",
                symptom="kernel.library",
            )
        return took_s, sketched

    def outputs(self, which: str) -> tuple[Tensor, ...]:
        """What the last call returned, copied, on the judge's device; `which` names the call.

        Raises:
            CheckFailed: it is no tensor, and no tuple of tensors.
            Fault: the worker died.
        """
        reply = self.worker.ask("captured", self._request, STAGE_S)
        listed = reply.get("outputs") if isinstance(reply, dict) else None
        if listed is None:
            kind = type(reply.get("value")).__name__ if isinstance(reply, dict) else "nothing"
            raise CheckFailed(
                f"{which} returned no tensors ({kind}), or larger ones than it was asked for",
                symptom="timed.wrong",
            )
        found, start = [], 0
        if not isinstance(listed, list) or len(listed) > _MOST_OUTPUTS:
            raise _wrong_form()
        for each in listed:
            dtype, shape = _described(each, which)
            count = 1
            for length in shape:
                count *= length
            size = count * dtype.itemsize
            if start + size > self._shared.size_bytes:
                raise _wrong_form()
            raw = self._shared.read(start, size)
            tensor = torch.frombuffer(raw, dtype=dtype) if size else torch.zeros(0, dtype=dtype)
            try:
                tensor = tensor.view(shape)
            except RuntimeError:  # lengths of which one is 0 and the others beyond what has strides
                raise _wrong_form() from None
            found.append(tensor.to(self._device))  # outside: the judge's own lack of memory is no tampering
            start += size
        return tuple(found)

    def pause(self) -> bool:
        """Stop all its processes; False when some still run."""
        return self.worker.confined.pause()

    def resume(self) -> None:
        """Let them run on."""
        self.worker.confined.resume()

    def close(self) -> None:
        """End it."""
        self.worker.close()

    def _stage(self, tensors: Mapping[str, Tensor], pools: bool) -> None:
        options = {"device": self._their_device, "pools": pools}
        self.worker.ask("stage", replace(self._request, kwargs=tensors, options=options), STAGE_S)


def _described(listed: Any, which: str) -> tuple[torch.dtype, tuple[int, ...]]:
    """dtype and shape of one output, as the worker says; nothing that could hurt.

    Raises:
        CheckFailed: it is in a format that nobody asked for.
        Tampered: no honest worker says so.
    """
    if not isinstance(listed, list) or len(listed) != 2 or not isinstance(listed[0], str):
        raise _wrong_form()
    if listed[0] not in _DTYPES:
        raise CheckFailed(f"{which} returned a tensor in {printable(listed[0], 30)}", symptom="timed.wrong")
    lengths = listed[1]
    if not isinstance(lengths, list) or len(lengths) > 8:
        raise _wrong_form()
    if not all(type(length) is int and 0 <= length < 1 << 31 for length in lengths):
        raise _wrong_form()
    return _DTYPES[listed[0]], tuple(lengths)


def _wrong_form() -> Tampered:
    return Tampered("the process sent what no honest code sends: an answer to a timed call of the wrong form")
