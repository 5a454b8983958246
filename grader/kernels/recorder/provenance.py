"""Where the numbers of a call come from: its inputs by way of kernels, PyTorch's arithmetic, or Python.

An answer that no kernel computed has to come in somewhere. What PyTorch computes is counted in elements, what Python
hands over in bytes: numbers given to operations and launches, constants in a kernel's code, memory filled elsewhere.
Reading a tensor is free, so numpy may look at all of it; the way back is what is counted.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from ..moves import MOVES
from .torch_ops import Operation, storage_of, tensors

_FREE_CHOICES, _BYTES_OF_A_CHOICE = 256, 2
"""Which of many tensors is copied, or handed over, is Python's choice: a byte of an answer can be told so."""


class Provenance:
    """Counts of one call."""

    def __init__(self) -> None:
        self.computed_elements = 0
        """Of PyTorch's arithmetic on what no kernel has made: the larger of operands and result, each time."""
        self.merged_elements = 0
        """The same where a kernel has made an operand."""
        self._choices = 0
        self._numbers: set[Any] = set()
        self._texts: set[str | bytes] = set()
        self._made: set[int] = set()
        """By StorageImpl: what kernels have stored into, and what was computed from it."""

    @property
    def brought_bytes(self) -> int:
        """What Python has handed over: each value once, since strides and sizes come in every launch."""
        chosen = _BYTES_OF_A_CHOICE * max(0, self._choices - _FREE_CHOICES)
        return sum(map(len, self._texts)) + sum(map(_size, self._numbers)) + chosen

    def ran(self, op: Operation, arguments: dict[str, Any], results: Iterable[torch.Tensor]) -> None:
        """PyTorch has run an operation."""
        self._choices += 1
        operands = [tensor for value in arguments.values() for tensor in tensors(value)]
        made = [*results, *(each for name in op.written for each in tensors(arguments.get(name)))]
        of_kernels = any(_key(tensor) in self._made for tensor in operands)
        if of_kernels:
            self._made.update(map(_key, made))
            self._made.discard(0)
        self._choices += max(0, len(operands) - 3)
        if op.base in MOVES:
            return
        for value in arguments.values():
            self.brought(value)
        elements = max((tensor.numel() for tensor in (*operands, *made)), default=0)
        if of_kernels:
            self.merged_elements += elements
        else:
            self.computed_elements += elements

    def stored(self, tensor: torch.Tensor) -> None:
        """A kernel has stored into it."""
        self._made.add(_key(tensor))
        self._made.discard(0)

    def launched(self, tensors: int) -> None:
        """A kernel gets so many tensors."""
        self._choices += 1 + tensors

    def died(self, key: int) -> None:
        """A storage is gone: whoever gets its number next starts with nothing known."""
        self._made.discard(key)

    def brought(self, value: object) -> None:
        """Python hands over a value: the numbers in it, in tuples and lists too."""
        if isinstance(value, (int, float, complex, np.generic)):
            self._numbers.add(value.item() if isinstance(value, np.generic) else value)
        elif isinstance(value, (str, bytes)):
            self._texts.add(value)
        elif isinstance(value, (tuple, list, frozenset)):
            for item in value:
                self.brought(item)


def _key(tensor: torch.Tensor) -> int:
    """Number of its StorageImpl; 0 where it has no memory."""
    storage = storage_of(tensor)
    return 0 if storage is None else storage._cdata


def _size(number: Any) -> int:
    return max(8, number.bit_length() // 8) if isinstance(number, int) else 8
