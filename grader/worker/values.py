"""What may cross the wire: the form of an encoded value, its limits, and the errors of both directions."""

from collections.abc import Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Buffer: TypeAlias = bytes | bytearray | memoryview

MAX_DEPTH = 64
MAX_NODES = 1_000_000
MAX_INT_DIGITS = 4000  # below CPython's own limit of 4300, above which parsing takes quadratic time
MAX_INT_BITS = 13_287  # an integer of so many bits has at most 4000 digits
# Other than text, in one message: their hashes are unsalted, and 4000 that collide already take 0.3 s.
MAX_DICT_KEYS = 4_000
MAX_DIMS = 16
MAX_ELEMENTS = 1 << 30  # of all tensors of a message: stride 0 makes an exabyte out of four bytes
MAX_STRIDE = 1 << 40
MAX_STORAGE_BYTES = 1 << 30

INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
ARRAY_DTYPES = frozenset({"bool", *INTEGERS, "float16", "float32", "float64"})
TENSOR_DTYPES = ARRAY_DTYPES | {"bfloat16", "float8_e4m3fn", "float8_e5m2"}
# Formats that may be named though no tensor of theirs crosses.
DTYPE_NAMES = TENSOR_DTYPES | {"complex64", "complex128"}

# None, bools, integers, finite floats, strings and lists are JSON as they are. Everything else is an object
# whose "$" is its kind, with exactly these fields beside it.
FIELDS: dict[str, frozenset[str]] = {
    "float": frozenset({"value"}),
    "bytes": frozenset({"storage"}),
    "tuple": frozenset({"items"}),
    "dict": frozenset({"pairs"}),
    "dtype": frozenset({"name"}),
    "spec": frozenset({"type", "data"}),
    "array": frozenset({"dtype", "shape", "storage"}),
    "tensor": frozenset({"dtype", "size", "stride", "offset", "storage", "requires_grad"}),
}


class WireError(Exception):
    """Something is wrong with the connection or with what came over it."""


class WireTampered(WireError):
    """What came is no frame or no value that the honest code could have sent."""


class Unsendable(TypeError):
    """The value is of a kind that does not cross; the message names the type and what to return instead."""


def end_of_view(size: Sequence[int], stride: Sequence[int], offset: int) -> int:
    """One past the last element that a strided view reads; its offset when it is empty."""
    if 0 in size:
        return offset
    return offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) + 1
