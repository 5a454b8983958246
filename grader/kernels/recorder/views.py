"""One tensor argument of one launch: where it lies, which addresses are its elements, who touched which.

Every view gets a tag. The interpreter's pointers carry it in bits 48 to 63 (user addresses have 47 bits and pointer
arithmetic keeps the upper bits), so an access tells through which argument it came, whatever address it hits.
"""

import ctypes
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..evidence import Place, TensorTraffic
from .ledger import Ledger, bytes_of

TAG_SHIFT = 48
ADDRESS_MASK = np.uint64((1 << TAG_SHIFT) - 1)
MAX_TAG = (1 << 15) - 1  # bit 63 stays clear, so that a pointer cast to int64 is positive

Flags = NDArray[np.bool_]
Elements = NDArray[np.int64]

WORDS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""The unsigned word of so many bytes: values are compared by their bits."""
ALL_WRITTEN: dict[int, int] = {size: int.from_bytes(b"\x01" * size, "little") for size in (1, 2, 4, 8)}
"""A word of written flags, one a byte, all set."""


class View:
    """A tensor as a kernel received it. Element numbers count itemsizes from the view's first element."""

    def __init__(self, tag: int, tensor: torch.Tensor, parameter: str, ledger: Ledger) -> None:
        self.tag = tag
        self.tensor = tensor
        self.name = ""
        self.parameter = parameter
        self.itemsize = tensor.element_size()
        self.shift = self.itemsize.bit_length() - 1
        self.shape = tuple(tensor.shape)
        self.strides = tuple(tensor.stride())
        self.address = tensor.data_ptr()
        self.base = (tag << TAG_SHIFT) | self.address
        self.storage = tensor.untyped_storage().data_ptr()
        self.extent = extent_of(tensor)
        self.element_member = membership_of(tensor, self.extent)
        self.unwritten = self._words_not_written(ledger)
        self.kept: NDArray[Any] | None = None
        """The memory watch's copy of the elements, which follows every store; None where nobody watches."""
        self.read_bytes = 0
        self.written_bytes = 0
        self.atomics = 0
        self.was_read = False
        self.was_written = False
        self.had_atomics = False
        self.had_adders = False
        self.total_loads: dict[int, Place] = {}
        """Program number + 1 to where it loaded elements that had been added to."""

    @property
    def label(self) -> str:
        """What to call the tensor: as the student's function does, else the kernel's parameter."""
        return self.name or self.parameter or "a tensor"

    @cached_property
    def first_reader(self) -> NDArray[np.int32]:
        """Program number + 1 of the first to load each element; 0 for none.

        Programs run one after another here, so the first tells whether any other program has read before.
        """
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def last_writer(self) -> NDArray[np.int32]:
        """Program number + 1 of the last to store each element plainly; 0 for none."""
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def writer_epoch(self) -> NDArray[np.int32]:
        """How many ordering atomics the last writer of each element had done when it wrote."""
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def last_atomic(self) -> NDArray[np.int32]:
        """Program number + 1 of the last to touch each element by an atomic; 0 for none."""
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def first_adder(self) -> NDArray[np.int32]:
        """Program number + 1 of the first to change each element by an atomic other than an exchange; 0 for none."""
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def total_reader(self) -> NDArray[np.int32]:
        """Program number + 1 of the last plain load of each element that had been added to; 0 for none."""
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def total_reader_epoch(self) -> NDArray[np.int32]:
        """How many ordering atomics that reader had done when it loaded."""
        return np.zeros(self.extent, dtype=np.int32)

    @cached_property
    def memory(self) -> NDArray[Any]:
        """The bits in memory, one unsigned word an element, over the view's whole extent."""
        count = self.extent * self.itemsize
        buffer = memoryview((ctypes.c_uint8 * count).from_address(self.address))
        words: NDArray[Any] = np.frombuffer(buffer, dtype=np.uint8).view(WORDS[self.itemsize])
        return words

    @property
    def unique_read_bytes(self) -> int:
        return int(np.count_nonzero(self.first_reader)) * self.itemsize if self.was_read else 0

    @property
    def unique_written_bytes(self) -> int:
        if self.had_atomics and self.was_written:
            touched = int(np.count_nonzero(self.last_writer | self.last_atomic))
        elif self.had_atomics:
            touched = int(np.count_nonzero(self.last_atomic))
        else:
            touched = int(np.count_nonzero(self.last_writer)) if self.was_written else 0
        return touched * self.itemsize

    def traffic(self) -> TensorTraffic:
        """What the launch did to it, as data."""
        return TensorTraffic(
            tensor=self.label,
            parameter=self.parameter,
            shape=self.shape,
            dtype=str(self.tensor.dtype).removeprefix("torch."),
            read_bytes=self.read_bytes,
            unique_read_bytes=self.unique_read_bytes,
            written_bytes=self.written_bytes,
            unique_written_bytes=self.unique_written_bytes,
            atomics=self.atomics,
        )

    def _words_not_written(self, ledger: Ledger) -> NDArray[Any] | None:
        flags = ledger.written(self.tensor.untyped_storage())
        if flags is None or self.extent == 0 or self.itemsize not in ALL_WRITTEN:
            return None
        if bytes_of(flags, self.tensor).all():
            return None
        start = self.address - self.storage
        words: NDArray[Any] = flags[start : start + self.extent * self.itemsize].view(WORDS[self.itemsize])
        return words


def extent_of(tensor: torch.Tensor) -> int:
    """Elements from the first of a view to its last, the gaps between them included."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def membership_of(tensor: torch.Tensor, extent: int) -> Flags | None:
    """Which elements of the extent belong to the view; None where all do.

    A table, since strides may overlap (expand, unfold), where division alone would not tell.
    """
    distinct = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        distinct *= size if stride else 1
    if distinct == extent and _nested(tensor):
        return None
    member = np.zeros(extent, dtype=np.bool_)
    np.lib.stride_tricks.as_strided(member, shape=tensor.shape, strides=tensor.stride())[...] = True
    return None if member.all() else member


def _nested(tensor: torch.Tensor) -> bool:
    """Whether each stride steps over all that the smaller strides span: then no two indices meet."""
    dims = zip(tensor.stride(), tensor.shape, strict=True)
    span = 1
    for stride, size in sorted((stride, size) for stride, size in dims if size > 1 and stride):
        if stride < span:
            return False
        span = stride * (size - 1) + span
    return True
