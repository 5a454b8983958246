"""Storages that PyTorch makes during one call: when each is born and dies, and the most bytes alive at once."""

import weakref
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .ledger import bytes_of


class Block(NamedTuple):
    """A storage as it was made."""

    shape: tuple[int, ...]
    """Of the tensor that first owned it."""
    file: str
    line: int


class Peak(NamedTuple):
    """The result of replaying the births and deaths; bytes."""

    peak_bytes: int
    largest_bytes: int
    largest_block: Block


class Memory:
    """Births, changes of size, and deaths, in order. `died` is told of each storage that goes: StorageImpl, address.

    A storage's Python object lives as long as the storage does, also while only C++ holds it (saved for a
    backward), so a weak reference to it tells the moment of death.
    """

    def __init__(self, died: Callable[[int, int], None]) -> None:
        self._died = died
        self._blocks: list[Block] = []
        self._events: list[tuple[int, int]] = []
        """Number of a block, and its bytes from then on."""
        self._alive: dict[int, tuple[int, int, weakref.ref[torch.UntypedStorage]]] = {}
        """By StorageImpl: the block's number, its address, and the reference that tells of its death."""
        self._open = True

    def knows(self, storage: torch.UntypedStorage) -> bool:
        """Whether it was made during the call."""
        return storage._cdata in self._alive

    def made(self, storage: torch.UntypedStorage, block: Block, already_bytes: int = 0) -> None:
        """A new storage, or one from before the call that grew: then `already_bytes` are not counted."""
        key, number = storage._cdata, len(self._blocks)
        self._blocks.append(block)
        self._events.append((number, max(0, storage.nbytes() - already_bytes)))

        def gone(_: object) -> None:
            number, address, _reference = self._alive.pop(key, (-1, 0, None))
            if self._open and number >= 0:
                self._events.append((number, 0))
                self._died(key, address)

        self._alive[key] = (number, storage.data_ptr(), weakref.ref(storage, gone))

    def block_of(self, storage: torch.UntypedStorage) -> Block | None:
        """The storage as it was made; None where it is older than the call."""
        known = self._alive.get(storage._cdata)
        return None if known is None else self._blocks[known[0]]

    def resized(self, storage: torch.UntypedStorage) -> None:
        """The storage has other bytes now, perhaps elsewhere."""
        number, _, reference = self._alive[storage._cdata]
        self._alive[storage._cdata] = (number, storage.data_ptr(), reference)
        self._events.append((number, storage.nbytes()))

    def close(self) -> None:
        """The call is over: later deaths are not its own."""
        self._open = False

    def peak(self, kept: Iterable[torch.Tensor]) -> Peak:
        """Most bytes alive at once, the bytes of the `kept` tensors left out from their birth on.

        Only bytes that a kept tensor shows are left out: a small view does not excuse the large storage behind.
        """
        shown = self._shown(kept)
        now: dict[int, int] = {}
        total = most = largest = 0
        which = Block((), "", 0)
        for number, size in self._events:
            counted = max(0, size - shown.get(number, 0))
            total += counted - now.get(number, 0)
            now[number] = counted
            most = max(most, total)
            if counted > largest:
                largest, which = counted, self._blocks[number]
        return Peak(most, largest, which)

    def _shown(self, kept: Iterable[torch.Tensor]) -> dict[int, int]:
        flags: dict[int, NDArray[np.bool_]] = {}
        for tensor in kept:
            storage = tensor.untyped_storage()
            if self.knows(storage) and tensor.numel():
                number = self._alive[storage._cdata][0]
                if number not in flags:
                    flags[number] = np.zeros(storage.nbytes(), dtype=np.bool_)
                bytes_of(flags[number], tensor)[...] = True
        return {number: int(np.count_nonzero(flag)) for number, flag in flags.items()}
