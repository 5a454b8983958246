"""Which bytes of each storage have been written: kept by the torch side and the kernels' stores together.

TorchSide tells of storages that PyTorch makes and fills; the recorder tells of what kernels store. A storage that
the ledger was never told of (an argument of the call, a weight) counts as written.
"""

from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

Byte = TypeVar("Byte", np.bool_, np.uint8)


class Ledger:
    """Written bytes by storage, for one call; storages are known by the address of their first byte.

    An address is used again when a storage dies: `made` forgets what was known of it, so it must be told of
    *every* storage that an operation makes.
    """

    def __init__(self) -> None:
        self._written: dict[int, NDArray[np.bool_]] = {}
        self.torch_writes: dict[int, str] = {}
        """Address of a storage to the first PyTorch operation, `aten.add_`, that wrote into it in place."""

    def made(self, storage: torch.UntypedStorage, *, written: bool) -> None:
        """A new storage: `written` False for torch.empty and its like, True for the result of an operation."""
        self.torch_writes.pop(storage.data_ptr(), None)
        if written or storage.nbytes() == 0:
            self._written.pop(storage.data_ptr(), None)
        else:
            self._written[storage.data_ptr()] = np.zeros(storage.nbytes(), dtype=np.bool_)

    def died(self, address: int) -> None:
        """The storage that began here is gone: whoever gets the address next starts with nothing known."""
        self._written.pop(address, None)
        self.torch_writes.pop(address, None)

    def torch_wrote(self, tensor: torch.Tensor, operation: str) -> None:
        """A PyTorch operation (`aten.copy_`) wrote every element of this view, in place or as `out=`."""
        self.torch_writes.setdefault(tensor.untyped_storage().data_ptr(), operation)
        written = self.written(tensor.untyped_storage())
        if written is not None and tensor.numel():
            bytes_of(written, tensor)[...] = True

    def written(self, storage: torch.UntypedStorage) -> NDArray[np.bool_] | None:
        """One flag a byte, the array that the ledger itself keeps; None where all is written."""
        return self._written.get(storage.data_ptr())


def bytes_of(flags: NDArray[Byte], tensor: torch.Tensor) -> NDArray[Byte]:
    """A view's part of `flags`, which has one item for each byte of the storage; shape (*tensor.shape, itemsize)."""
    size: int = tensor.element_size()
    return np.lib.stride_tricks.as_strided(
        flags[tensor.storage_offset() * size :],
        shape=(*tensor.shape, size),
        strides=(*(stride * size for stride in tensor.stride()), 1),
    )
