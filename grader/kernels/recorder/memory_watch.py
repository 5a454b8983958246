"""A copy of the memory of every tensor that a call knows: it shows what was written behind the recorder's back.

A kernel stores through the interpreter and PyTorch writes through its dispatcher; both tell, and the copy follows. What
writes by address (ctypes, numpy on a pointer, DLPack) tells nobody: the memory differs from its copy
when the next operation or kernel takes it, or when it is returned. Copies are compared byte by byte, not by a checksum:
bytes can be chosen so that a CRC stays the same, and comparing is faster.

Not seen: who only reads by address; what is written and put back between two looks; what an array of `.numpy()`
writes, which is an operation in the counts from then on.
"""

import ctypes
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .torch_ops import storage_of
from .views import WORDS, extent_of

Bytes = NDArray[np.uint8]

_compare = ctypes.CDLL(None).memcmp
_compare.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_copy = ctypes.memmove


class Kept:
    """The copy of one storage's bytes."""

    def __init__(self, storage: torch.UntypedStorage, gone: Callable[[Any], None]) -> None:
        self.reference = weakref.ref(storage, gone)
        self.writers = 0
        """Operations and launches that are writing at the moment: until they are through, nothing is compared."""
        self.believed = False
        """An array of Python's shares the memory, and may write there."""
        self.shares = False
        """Another storage has some of the same memory."""
        self.take(storage)

    def take(self, storage: torch.UntypedStorage) -> None:
        """Copy all of the storage."""
        self.start, self.size = storage.data_ptr(), storage.nbytes()
        self.bytes: Bytes = np.empty(self.size, dtype=np.uint8)
        self.address = int(self.bytes.ctypes.data)
        self.follow(storage, 0, self.size)

    def follow(self, storage: torch.UntypedStorage, first: int, end: int) -> None:
        """Copy these bytes again; all of them where the storage is of another size, or elsewhere, now."""
        if (storage.data_ptr(), storage.nbytes()) != (self.start, self.size):
            self.take(storage)
        elif end > first:
            _copy(self.address + first, self.start + first, end - first)


class Part(NamedTuple):
    """The bytes of a storage from a tensor's first element to its last, gaps included."""

    kept: Kept
    storage: torch.UntypedStorage
    first: int
    end: int

    def words(self, address: int, count: int, itemsize: int) -> NDArray[Any] | None:
        """The copy of so many elements from an address on; None for those that no kernel stores."""
        first = address - self.kept.start
        word = WORDS.get(itemsize)
        return None if word is None else self.kept.bytes[first : first + count * itemsize].view(word)


_kept: dict[int, Kept] = {}
"""By StorageImpl, while it lives: a tensor that outlives a call is known in the next one."""


def forget() -> None:
    """Nothing is known any more: a call that nobody watches may write anywhere."""
    _kept.clear()


class MemoryWatch:
    """Follows the memory of one call's tensors; `found` gets the address of a byte that changed, and a name or "".

    `outside_bytes` counts memory that was there before anybody told of it: an array of numpy's, a tensor made when the
    submission was imported. Its first sight is its first copy.
    """

    def __init__(self, inputs: Iterable[torch.Tensor], found: Callable[[int, str], None]) -> None:
        self._found = found
        self._lock = threading.RLock()
        self.outside_bytes = 0
        for tensor in inputs:
            storage = _in_memory(tensor)
            if storage is not None:
                _kept.pop(storage._cdata, None)
                self.made(storage)

    def tells(self, found: Callable[[int, str], None]) -> bool:
        """Whether it is still this that is told of what was found."""
        return self._found == found

    def made(self, storage: torch.UntypedStorage) -> Kept:
        """The copy of a storage that an operation made; where it is known, the copy that there is."""
        key = storage._cdata
        kept = _kept.get(key)
        if kept is not None:
            return kept
        with self._lock:
            kept = Kept(storage, lambda _: _forget(key))
            # Where it shares memory with another one, that one's copy is the older.
            for other, first, end in _sharing(kept, 0, kept.size):
                there = kept.start + first - other.start
                kept.bytes[first:end] = other.bytes[there : there + end - first]
                kept.believed = kept.believed or other.believed
                kept.shares = other.shares = True
            _kept[key] = kept
        return kept

    def known(self, tensor: torch.Tensor) -> None:
        """A tensor that is there when the call begins: what it holds was not made of the call's arguments."""
        storage = _in_memory(tensor)
        if storage is not None:
            self.made(storage)

    def met(self, tensor: torch.Tensor) -> Part | None:
        """The memory of a tensor, which is new to the watch or not; None for one without memory on the CPU."""
        storage = _in_memory(tensor)
        if storage is None:
            return None
        size = tensor.element_size()
        first = int(tensor.storage_offset()) * size
        end = first + extent_of(tensor) * size
        kept = _kept.get(storage._cdata)
        if kept is None:
            self.outside_bytes += end - first
            kept = self.made(storage)
        return Part(kept, storage, first, end)

    def look(self, tensors: Iterable[torch.Tensor], name: str = "") -> None:
        """Tell of what changed these tensors' memory since its copy was taken."""
        parts = [part for part in map(self.met, tensors) if part is not None]
        with self._lock:
            for part in parts:
                self._look(part, name)

    def begin(self, tensors: Iterable[torch.Tensor]) -> list[Part]:
        """Somebody who tells begins to write these: a last look, and none before `end` or `judge`."""
        parts = [part for part in map(self.met, tensors) if part is not None]
        with self._lock:
            for part in parts:
                self._look(part)
            for part in parts:
                part.kept.writers += 1
        return parts

    def end(self, parts: Iterable[Part]) -> None:
        """They are written: the copies follow."""
        with self._lock:
            for part in parts:
                part.kept.writers -= 1
                _follow(part)

    def still(self, parts: list[Part]) -> None:
        """The first program is about to run: a callable grid, which is the submission's, was asked since `begin`."""
        with self._lock:
            for part in parts:
                if part.kept.writers == 1 and not part.kept.shares:
                    part.kept.writers = 0
                    self._look(part)
                    part.kept.writers = 1

    def judge(self, parts: list[Part]) -> None:
        """A launch is over that put its own stores into the copies: nothing else may have come into memory."""
        with self._lock:
            for part in parts:
                part.kept.writers -= 1
            for part in parts:
                if part.kept.shares:
                    _follow(part)
                else:
                    self._look(part)

    def handed_out(self, tensor: torch.Tensor) -> None:
        """An array of Python's has the memory from now on."""
        part = self.met(tensor)
        if part is not None:
            part.kept.believed = True
            for other, _, _ in _sharing(part.kept, 0, part.kept.size):
                other.believed = True

    @contextmanager
    def restoring(self, addresses: Collection[int]) -> Iterator[None]:
        """Around what the kit itself writes into storages that begin at these addresses."""
        here = [(kept, kept.reference()) for kept in list(_kept.values()) if kept.start in addresses]
        parts = [Part(kept, storage, 0, kept.size) for kept, storage in here if storage is not None]
        with self._lock:
            for part in parts:
                self._look(part)
        yield
        with self._lock:
            for part in parts:
                _follow(part)

    def _look(self, part: Part, name: str = "") -> None:
        kept, storage, first, end = part
        if kept.writers:
            return
        end = min(end, kept.size, storage.nbytes())
        address = storage.data_ptr()
        same = end <= first or not _compare(address + first, kept.address + first, end - first)
        if same or kept.believed:
            self.outside_bytes += max(0, storage.nbytes() - kept.size)  # grown by nobody who tells
            kept.follow(storage, 0, 0)
            return
        now: Bytes = np.frombuffer(
            memoryview((ctypes.c_uint8 * (end - first)).from_address(address + first)), np.uint8
        )
        where = address + first + int(np.argmax(now != kept.bytes[first:end]))
        _follow(part)
        self._found(where, name)


def _forget(key: int) -> None:
    _kept.pop(key, None)


def _in_memory(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    storage = storage_of(tensor)
    if storage is None or storage.device.type != "cpu" or not storage.nbytes():
        return None
    return storage


def _follow(part: Part) -> None:
    """Copy these bytes again, and those of other storages in the same memory."""
    kept, storage, first, end = part
    kept.follow(storage, first, end)
    if kept.shares:
        for other, start, stop in _sharing(kept, first, end):
            theirs = other.reference()
            if theirs is not None:
                shift = kept.start - other.start
                other.follow(theirs, start + shift, stop + shift)


def _sharing(kept: Kept, first: int, end: int) -> Iterator[tuple[Kept, int, int]]:
    """Other storages that share some of these bytes, and which, counted from this one's first."""
    low, high = kept.start + first, kept.start + end
    for other in list(_kept.values()):
        if other is not kept and other.start < high and low < other.start + other.size:
            start = max(low, other.start)
            yield other, start - kept.start, min(high, other.start + other.size) - kept.start
