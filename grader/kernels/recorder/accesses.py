"""One access as the hooks hand it to the record: its pointers with tags, its mask, its block pointer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Pointers = NDArray[np.uint64]
Lanes = NDArray[np.bool_]


class BlockPointer(NamedTuple):
    """A block pointer as one access uses it: indices of its first element, sizes it was told, block, checked dims."""

    offsets: tuple[int, ...]
    shape: tuple[int, ...]
    block_shape: tuple[int, ...]
    checked: frozenset[int]


class Access(NamedTuple):
    """One load, store or atomic instruction of one program."""

    verb: str
    """loads, stores, or updates (an atomic)."""
    pointers: Pointers
    """The whole block, with tags."""
    mask: Lanes
    size: int
    """Bytes a lane."""
    block: BlockPointer | None = None
