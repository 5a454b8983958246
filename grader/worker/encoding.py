"""Values to plain JSON and raw storages: what a submission returns, and what the judge hands to it.

numpy, torch and specs are touched only when a value of theirs crosses.
"""

import ctypes
import math
import sys
from typing import TYPE_CHECKING, cast

from .values import (
    ARRAY_DTYPES,
    DTYPE_NAMES,
    MAX_DEPTH,
    MAX_DICT_KEYS,
    MAX_DIMS,
    MAX_ELEMENTS,
    MAX_INT_BITS,
    MAX_INT_DIGITS,
    MAX_NODES,
    MAX_STORAGE_BYTES,
    TENSOR_DTYPES,
    Json,
    Unsendable,
    end_of_view,
)

if TYPE_CHECKING:
    import numpy
    import torch
    from pydantic import BaseModel

    Array = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]

INSTEAD = "return a number, a string, a list, a tuple, a dict, a tensor or the type that is asked for"


def encode(value: object) -> tuple[Json, list[bytes]]:
    """Return `value` as plain JSON and the raw storages that it refers to; the inverse of `decode`.

    Subclasses of plain types arrive as the plain type with the content that the plain type sees: a namedtuple
    as a tuple, an IntEnum as an int, numpy scalars as Python numbers. Tensors keep dtype, size, stride,
    offset, `requires_grad` and which of them share a storage.

    Raises:
        Unsendable: a value of another kind; the message says which and what to return instead.
    """
    encoder = _Encoder()
    try:
        return encoder.node(value, 0), encoder.storages
    except Unsendable:
        raise
    except Exception as error:  # a property or metaclass of the submission's own
        raise Unsendable(f"{_a(value)} cannot be read ({type(error).__name__}); {INSTEAD}") from None


class _Encoder:
    """The storages and the node count of one message."""

    def __init__(self) -> None:
        self.storages: list[bytes] = []
        self._stored: dict[tuple[str, int, int], int] = {}
        self._alive: list[object] = []  # an address names a storage only while the storage lives
        self._nodes = 0
        self._keys = 0
        self._elements = 0

    def node(self, value: object, depth: int) -> Json:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise Unsendable(f"more than {MAX_NODES:,} values in one result; return an array or a tensor")
        if depth > MAX_DEPTH:
            raise Unsendable(f"lists, tuples or dicts nested more than {MAX_DEPTH} deep, or in themselves")
        if value is None or isinstance(value, bool):
            return value
        # The plain type's own methods: a subclass may lie in its overrides.
        if isinstance(value, int):
            return _plain_int(int.__int__(value))
        if isinstance(value, float):
            return _plain_float(float.__float__(value))
        if isinstance(value, str):
            return _plain_text(str.__str__(value))
        if isinstance(value, bytes):
            return {"$": "bytes", "storage": self._store(bytes.__bytes__(value))}
        if isinstance(value, list):
            return [self.node(item, depth + 1) for item in list.__iter__(value)]
        if isinstance(value, tuple):
            items = tuple.__iter__(value)
            return {"$": "tuple", "items": [self.node(item, depth + 1) for item in items]}
        if isinstance(value, dict):
            return self._dict(list(dict.items(value)), depth)
        return self._library_value(value, depth)

    def _dict(self, pairs: list[tuple[object, object]], depth: int) -> Json:
        encoded: list[Json] = []
        seen = set()
        for key, value in pairs:
            plain = _plain_key(key)
            if plain in seen:
                raise Unsendable("a dict with two keys that are the same once they are plain values")
            seen.add(plain)
            encoded.append([self.node(plain, depth + 1), self.node(value, depth + 1)])
        self._keys += sum(type(key) is not str for key in seen)
        if self._keys > MAX_DICT_KEYS:
            raise Unsendable(f"dicts with more than {MAX_DICT_KEYS:,} keys that are not strings")
        return {"$": "dict", "pairs": encoded}

    def _library_value(self, value: object, depth: int) -> Json:
        np, th = sys.modules.get("numpy"), sys.modules.get("torch")
        if np is not None:
            if isinstance(value, np.generic):
                return self.node(_numpy_scalar(value), depth)
            if type(value) is np.ndarray:
                return self._array(cast("Array", value))
            if isinstance(value, np.ndarray):
                raise Unsendable(f"{_a(value)} cannot be sent; return a plain numpy.ndarray")
        if th is not None:
            if type(value) in (th.Tensor, th.nn.Parameter):
                return self._tensor(cast("torch.Tensor", value))
            if isinstance(value, th.Tensor):
                raise Unsendable(f"{_a(value)} cannot be sent; return a plain torch.Tensor")
            if type(value) is th.dtype and str(value).removeprefix("torch.") in DTYPE_NAMES:
                return {"$": "dtype", "name": str(value).removeprefix("torch.")}
        return self._spec(value, depth)

    def _spec(self, value: object, depth: int) -> Json:
        name = type(value).__name__
        types: dict[str, type[BaseModel]] = getattr(sys.modules.get("specs"), "WIRE_TYPES", {})
        schema = types.get(name)
        if schema is None:
            raise Unsendable(f"{_a(value)} cannot be sent; {INSTEAD}")
        if type(value) is not schema:
            raise Unsendable(f"{_a(value)} of your own cannot be sent; use the {name} of specs itself")
        data = schema.model_dump(value, round_trip=True, warnings=False)
        try:  # a copy that was changed after validation is the sender's mistake, not tampering
            schema.model_validate(data)
        except ValueError as error:
            raise Unsendable(f"{name} with a wrong field: {_first_problem(error)}") from None
        return {"$": "spec", "type": name, "data": self.node(data, depth + 1)}

    def _array(self, array: "Array") -> Json:
        name = array.dtype.name
        if name not in ARRAY_DTYPES:
            raise Unsendable(f"a numpy array of {name} cannot be sent; return one of floats, ints or bools")
        self._elements += array.size
        if array.ndim > MAX_DIMS or self._elements > MAX_ELEMENTS:
            raise Unsendable(f"a numpy array of shape {array.shape[:MAX_DIMS]} is too large to be sent")
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return {
            "$": "array",
            "dtype": name,
            "shape": list(array.shape),
            "storage": self._store(native.tobytes(order="C")),
        }

    def _tensor(self, value: "torch.Tensor") -> Json:
        import torch

        plain = torch.Tensor.detach(value)  # leaves behind whatever was hung on the instance
        name = str(plain.dtype).removeprefix("torch.")
        if name not in TENSOR_DTYPES:
            raise Unsendable(f"a tensor of {name} cannot be sent; return one of floats, ints or bools")
        if plain.layout != torch.strided or plain.device.type == "meta":
            raise Unsendable("a sparse or meta tensor cannot be sent; return a dense tensor that holds data")
        if plain.is_neg():
            plain = plain.resolve_neg()
        storage = plain.untyped_storage()
        size, stride, offset = list(plain.size()), list(plain.stride()), int(plain.storage_offset())
        self._elements += math.prod(size)
        if len(size) > MAX_DIMS or self._elements > MAX_ELEMENTS:
            raise Unsendable(f"a tensor of size {size[:MAX_DIMS]} is too large to be sent")
        if end_of_view(size, stride, offset) * plain.element_size() > storage.nbytes():
            raise Unsendable("a tensor whose storage was freed or shrunk cannot be sent")
        if storage.nbytes() > MAX_STORAGE_BYTES:
            raise Unsendable(f"a view of {storage.nbytes():,} bytes is too large to be sent; return a clone")
        key = (str(plain.device), storage.data_ptr(), storage.nbytes())
        if storage.nbytes() == 0 or key not in self._stored:
            self._alive.append(storage)
            flat = torch.empty(0, dtype=torch.uint8, device=plain.device).set_(storage).cpu()
            self._stored[key] = self._store(ctypes.string_at(flat.data_ptr(), flat.numel()))
        return {
            "$": "tensor",
            "dtype": name,
            "size": [*size],
            "stride": [*stride],
            "offset": offset,
            "storage": self._stored[key],
            "requires_grad": bool(value.requires_grad),
        }

    def _store(self, data: bytes) -> int:
        self.storages.append(data)
        return len(self.storages) - 1


def _plain_int(value: int) -> int:
    if value.bit_length() > MAX_INT_BITS:
        raise Unsendable(f"an integer of more than {MAX_INT_DIGITS} digits cannot be sent")
    return value


def _plain_float(value: float) -> Json:
    return value if math.isfinite(value) else {"$": "float", "value": repr(value)}


def _plain_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unsendable("a string with half a character (a lone surrogate) cannot be sent") from None
    return value


def _plain_key(key: object) -> "bool | int | float | str | tuple[object, ...] | None":
    """The dict key as a plain value, by the plain type's own methods."""
    np = sys.modules.get("numpy")
    if np is not None and isinstance(key, np.generic):
        return _plain_key(_numpy_scalar(key))
    if key is None or isinstance(key, bool):
        return key
    if isinstance(key, int):
        return int.__int__(key)
    if isinstance(key, float):
        return float.__float__(key)
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, tuple):
        return tuple(_plain_key(part) for part in tuple.__iter__(key))
    raise Unsendable(f"a dict with {_a(key)} as a key cannot be sent; use strings or numbers as keys")


def _numpy_scalar(value: "numpy.generic") -> bool | int | float:
    plain = value.item()
    if type(plain) not in (bool, int, float):  # longdouble, complex, datetime64, void
        raise Unsendable(f"{_a(value)} cannot be sent; return a float or an int")
    return cast("bool | int | float", plain)


def _a(value: object) -> str:
    """The type of `value` with its article, fit for a message."""
    name = "".join(c if c.isprintable() and c.isascii() else "?" for c in type(value).__name__[:60])
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _first_problem(error: ValueError) -> str:
    problems = getattr(error, "errors", None)
    if problems is None:
        return str(error)[:200]
    first = problems()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]
