"""The worker's side of a timed call: stage, call between the judge's ticks, hand over what came out.

No time and no output that comes from here is believed. The judge's clock runs from its sending of a request to the
arrival of the sketch, which nobody can make who does not have the output (see `windows`); the output itself is compared
afterwards. Code of the submission that changes this module gains no time by it: not by a patched clock, for none is
read here, and not by an early answer, for it would be a wrong one. What it can do is hide which of PyTorch's operations
it used: those are reported from here, and a thread that was started before, a CUDA graph or ctypes is not seen at all.
"""

import mmap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from . import windows


class Desk:
    """What lies ready in this worker: pools, staged tensors, and what the last call returned."""

    def __init__(
        self, shared: int | None, watched: Callable[..., tuple[Any, tuple[str, ...], bool]] | None
    ) -> None:
        """`shared` is a descriptor of memory that the judge reads outputs from; `watched` calls a function and says
        which of PyTorch's operations it used, and whether it left the watch alone."""
        self._memory = None if shared is None else torch.frombuffer(mmap.mmap(shared, 0), dtype=torch.uint8)
        self._watched = watched
        self._device = "cpu"
        self._pinned = False
        self._pools: dict[str, Tensor] = {}
        self._kept: dict[str, Tensor] = {}
        self._value: Any = None
        self.intact = True

    def stage(self, tensors: Mapping[str, Tensor], device: str, pools: bool) -> None:
        """Bring tensors to the device; pools stay for the worker's life, others until one of the same name."""
        self._device = device
        self._pin()
        staged = {name: tensor.to(device) for name, tensor in tensors.items()}
        (self._pools if pools else self._kept).update(staged)
        self._finish()

    def timed(self, function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """One call and the sketch of its outputs. An empty call sketches the last outputs and calls nothing."""
        ops: tuple[str, ...] = ()
        arguments = [windows.resolve(each, self._pools, self._kept) for each in options["arguments"]]
        weights = [windows.resolve(each, self._pools, self._kept) for each in options["weights"]]
        if not options["empty"]:
            self._value = None  # its memory is free for the next output, as in a loop of training
            if options["own_kernels"] and self._watched is not None:
                self._value, ops, intact = self._watched(function, arguments)
                self.intact = self.intact and intact
            else:
                self._value = function(*arguments)
        return {"sketch": windows.sketch(windows.outputs_of(self._value), weights), "ops": list(ops)}

    def captured(self) -> Any:
        """The outputs of the last call: [dtype, shape] of each, bytes in the shared memory; else the value itself."""
        outputs = windows.outputs_of(self._value)
        size = sum(each.numel() * each.element_size() for each in outputs)
        if not outputs or self._memory is None or size > self._memory.numel():
            return {"value": self._value}
        start = 0
        for each in outputs:
            raw = each.detach().contiguous().reshape(-1).view(torch.uint8)
            self._memory[start : start + raw.numel()].copy_(raw)
            start += raw.numel()
        self._finish()
        return {"outputs": [[str(each.dtype).removeprefix("torch."), list(each.shape)] for each in outputs]}

    def _pin(self) -> None:
        """Have the GPU copy outputs straight into the shared memory. Not run on a GPU yet; it works unpinned too."""
        if self._device != "cpu" and self._memory is not None and not self._pinned:
            self._pinned = True
            runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]  # torch has no types for it
            runtime.cudaHostRegister(self._memory.data_ptr(), self._memory.numel(), 0)

    def _finish(self) -> None:
        if self._device != "cpu":
            torch.cuda.synchronize()


def answer(
    desk: Desk,
    verb: str,
    function: Callable[..., Any],
    kwargs: Mapping[str, Any],
    options: Mapping[str, Any],
    args: Sequence[Any] = (),
) -> Any:
    """Carry out one request of the judge's: stage, timed or captured."""
    if verb == "stage":
        desk.stage(kwargs, options["device"], options["pools"])
        return None
    if verb == "timed":
        return desk.timed(function, options)
    return desk.captured()
