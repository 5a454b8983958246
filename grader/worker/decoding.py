"""Plain JSON and raw storages back to values: taken as hostile, so that a bad one raises `WireTampered` only.

numpy, torch and specs are touched only when a value of theirs crosses.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, cast

from .values import (
    ARRAY_DTYPES,
    DTYPE_NAMES,
    FIELDS,
    MAX_DEPTH,
    MAX_DICT_KEYS,
    MAX_DIMS,
    MAX_ELEMENTS,
    MAX_INT_BITS,
    MAX_NODES,
    MAX_STRIDE,
    TENSOR_DTYPES,
    Buffer,
    WireTampered,
    end_of_view,
)

if TYPE_CHECKING:
    import numpy
    import torch
    from pydantic import BaseModel

    Array = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]

Fields = dict[str, object]


def decode(tree: object, storages: Sequence[Buffer]) -> object:
    """Return the value that `encode` made `tree` and `storages` from.

    A `bytearray` storage becomes the memory of its tensors without a copy; other storages are copied.

    Raises:
        WireTampered: anything that `encode` cannot have made.
    """
    try:
        return _Decoder(storages).node(tree, 0)
    except WireTampered:
        raise
    except Exception as error:  # a library refused what passed the checks below
        raise WireTampered(f"a value cannot be put together ({type(error).__name__})") from None


class _Decoder:
    """The storages of one message, and what has been spent on it so far."""

    def __init__(self, storages: Sequence[Buffer]) -> None:
        self._storages = storages
        self._memory: dict[int, torch.UntypedStorage] = {}
        self._copied: set[int] = set()
        self._nodes = 0
        self._keys = 0
        self._elements = 0
        self._kinds: dict[str, Callable[[Fields, int], object]] = {
            "float": self._float,
            "bytes": self._bytes,
            "tuple": self._tuple,
            "dict": self._dict,
            "dtype": self._dtype,
            "spec": self._spec,
            "array": self._array,
            "tensor": self._tensor,
        }

    def node(self, tree: object, depth: int) -> object:
        self._nodes += 1
        _check(self._nodes <= MAX_NODES and depth <= MAX_DEPTH, "a value has too many parts or levels")
        if tree is None or isinstance(tree, bool):
            return tree
        if isinstance(tree, int):
            _check(tree.bit_length() <= MAX_INT_BITS, "an integer is too long")
            return tree
        if isinstance(tree, float):
            _check(math.isfinite(tree), "a number is not finite")
            return tree
        if isinstance(tree, str):
            tree.encode()  # half a character raises
            return tree
        if isinstance(tree, list):
            return [self.node(item, depth + 1) for item in tree]
        if not isinstance(tree, dict):
            raise WireTampered("a part of a value is not JSON")
        kind = _one_of(tree.get("$"), FIELDS)
        _check(tree.keys() - {"$"} == FIELDS[kind], f"a {kind} lacks a field or has one too many")
        return self._kinds[kind](tree, depth)

    def _float(self, fields: Fields, depth: int) -> float:
        return float(_one_of(fields["value"], ("nan", "inf", "-inf")))

    def _bytes(self, fields: Fields, depth: int) -> bytes:
        return bytes(self._storages[self._own_index(fields)])

    def _tuple(self, fields: Fields, depth: int) -> tuple[object, ...]:
        return tuple(self.node(item, depth + 1) for item in _list(fields["items"]))

    def _dict(self, fields: Fields, depth: int) -> dict[object, object]:
        result: dict[object, object] = {}
        for pair in map(_list, _list(fields["pairs"])):
            _check(len(pair) == 2, "a dict holds something else than pairs")
            key = self.node(pair[0], depth + 1)
            _check(_is_key(key), "a dict has a key of a wrong kind")
            self._keys += not isinstance(key, str)
            _check(self._keys <= MAX_DICT_KEYS, "dicts have too many keys that are not text")
            _check(key not in result, "a dict has a key twice")
            result[key] = self.node(pair[1], depth + 1)
        return result

    def _dtype(self, fields: Fields, depth: int) -> "torch.dtype":
        import torch

        return cast(torch.dtype, getattr(torch, _one_of(fields["name"], DTYPE_NAMES)))

    def _spec(self, fields: Fields, depth: int) -> "BaseModel":
        import specs

        schema = specs.WIRE_TYPES[_one_of(fields["type"], specs.WIRE_TYPES)]
        data = self.node(fields["data"], depth + 1)
        _check(isinstance(data, dict), "a type of specs has no fields")
        return schema.model_validate(data)

    def _array(self, fields: Fields, depth: int) -> "Array":
        import numpy

        dtype = numpy.dtype(_one_of(fields["dtype"], ARRAY_DTYPES))
        shape = _dims(fields["shape"], MAX_ELEMENTS)
        count = self._count(shape)
        data = self._storages[self._own_index(fields)]
        _check(count * dtype.itemsize == memoryview(data).nbytes, "an array does not fill its storage")
        if count == 0:
            return numpy.empty(shape, dtype)
        flat = numpy.frombuffer(bytearray(data), dtype)
        _check(dtype.name != "bool" or int(flat.view("uint8").max()) <= 1, "a bool is neither true nor false")
        return flat.reshape(shape)

    def _tensor(self, fields: Fields, depth: int) -> "torch.Tensor":
        import torch

        dtype = cast(torch.dtype, getattr(torch, _one_of(fields["dtype"], TENSOR_DTYPES)))
        size, stride = _dims(fields["size"], MAX_ELEMENTS), _dims(fields["stride"], MAX_STRIDE)
        (offset,) = _dims([fields["offset"]], MAX_STRIDE)
        wants_grad = fields["requires_grad"]
        if not isinstance(wants_grad, bool) or (wants_grad and not dtype.is_floating_point):
            raise WireTampered("a tensor that has no gradient claims one")
        _check(len(size) == len(stride), "a tensor has not one stride a dimension")
        self._count(size)
        memory = self._tensor_memory(self._index(fields))
        end_bytes = end_of_view(size, stride, offset) * dtype.itemsize
        _check(end_bytes <= memory.nbytes(), "a tensor reaches beyond its storage")
        if dtype == torch.bool and 0 not in size:
            raw = torch.empty(0, dtype=torch.uint8).set_(memory, offset, size, stride)
            _check(int(raw.max()) <= 1, "a bool is neither true nor false")
        tensor = torch.empty(0, dtype=dtype).set_(memory, offset, size, stride)
        return tensor.requires_grad_(wants_grad)

    def _tensor_memory(self, index: int) -> "torch.UntypedStorage":
        import torch

        if index not in self._memory:
            data = self._storages[index]
            owned = data if isinstance(data, bytearray) else bytearray(data)
            if owned:
                self._memory[index] = torch.frombuffer(owned, dtype=torch.uint8).untyped_storage()
            else:  # frombuffer refuses it
                self._memory[index] = torch.empty(0, dtype=torch.uint8).untyped_storage()
        return self._memory[index]

    def _index(self, fields: Fields) -> int:
        index = fields["storage"]
        if type(index) is not int or not 0 <= index < len(self._storages):
            raise WireTampered("a value names a storage that did not come")
        return index

    def _own_index(self, fields: Fields) -> int:
        """Of a storage that is copied, and is nobody else's: one that a thousand values name would fill the memory."""
        index = self._index(fields)
        _check(index not in self._copied, "two values name the storage of one")
        self._copied.add(index)
        return index

    def _count(self, shape: Sequence[int]) -> int:
        count = math.prod(shape)
        self._elements += count
        _check(self._elements <= MAX_ELEMENTS, "tensors have too many elements")
        return count


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise WireTampered(problem)


def _one_of(name: object, known: Collection[str]) -> str:
    if not isinstance(name, str) or name not in known:
        raise WireTampered("a kind, dtype or type has an unknown name")
    return name


def _list(tree: object) -> list[object]:
    if not isinstance(tree, list):
        raise WireTampered("a list is missing")
    return tree


def _dims(tree: object, cap: int) -> tuple[int, ...]:
    dims = _list(tree)
    _check(len(dims) <= MAX_DIMS, "a tensor has too many dimensions")
    result = tuple(n for n in dims if type(n) is int and 0 <= n <= cap)
    _check(len(result) == len(dims), "a size, stride or offset is out of range")
    return result


def _is_key(key: object) -> bool:
    if isinstance(key, tuple):
        return all(map(_is_key, key))
    return key is None or isinstance(key, bool | int | float | str)
