"""What judge and worker of a timed call agree on: arguments as windows into pools of numbers, sketches of outputs.

A pool is a long row of random numbers that lies on the device before anything is timed. An argument is a window into
it, contiguous, at a start that the judge draws and tells only as the clock starts: fresh contents at a fresh address
for every call, for nothing. Nobody can begin a call's work early who does not know what it is.

A sketch is what the worker sends as the clock stops: the dot product of each chunk of the output with random weights,
a window of their own. It commits the worker to the output: no sketch is right before all of the output is there, and
to compute one without the output costs as much as the output.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

GRAIN = 64
"""Starts are multiples of so many elements, so that windows are aligned like other tensors: 128 bytes in bf16."""
CHUNK = 8192
"""Elements of an output that share one number of its sketch."""

Argument = tuple[Any, ...]
"""("window", pool, start, shape), ("kept", name of a staged tensor), or ("plain", value)."""


def window(pool: Tensor, start: int, shape: Sequence[int]) -> Tensor:
    """A contiguous view of `pool` (1-D) from element `start` on, in `shape`."""
    size = 1
    for length in shape:
        size *= length
    return pool[start : start + size].view(tuple(shape))


def resolve(argument: Argument, pools: Mapping[str, Tensor], kept: Mapping[str, Tensor]) -> Any:
    """The value that an argument stands for."""
    kind = argument[0]
    if kind == "window":
        return window(pools[argument[1]], argument[2], argument[3])
    return kept[argument[1]] if kind == "kept" else argument[1]


def outputs_of(value: Any) -> tuple[Tensor, ...]:
    """The tensors that a function returned; none where it returned something else."""
    values = value if isinstance(value, tuple | list) else (value,)
    return tuple(values) if all(type(each) is Tensor for each in values) else ()


def sketch(outputs: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """The sketch of `outputs`, 1-D, fp32, on the CPU: chunk after chunk, output after output.

    Args:
        weights: for each output a window with as many elements; another output than the agreed one gets some sketch.
    """
    parts = []
    for output, weight in zip(outputs, weights, strict=False):
        flat = output.detach().reshape(-1)[: weight.numel()]
        beside = weight.reshape(-1)[: flat.numel()].to(flat.dtype)
        whole = flat.numel() // CHUNK * CHUNK
        if whole:
            # A batched product reads both once and sums in fp32, on a GPU too.
            rows, columns = flat[:whole].view(-1, 1, CHUNK), beside[:whole].view(-1, CHUNK, 1)
            parts.append(torch.bmm(rows, columns).flatten().float())
        if whole < flat.numel():
            parts.append((flat[whole:].float() * beside[whole:].float()).sum()[None])
    return torch.cat(parts).cpu() if parts else torch.zeros(0)
