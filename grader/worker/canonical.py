"""One byte string for all ways to write a value down: a call's key, a wrong answer's fingerprint."""

import ctypes
import math
import sys
from typing import TYPE_CHECKING

from .decoding import decode
from .encoding import encode

if TYPE_CHECKING:
    import numpy
    import torch
    from pydantic import BaseModel


def canonical(value: object) -> bytes:
    """A stable form of `value`, equal for a value and its copy over the wire.

    Numbers are rounded to 9 significant digits; integers are exact, and an integral float below 2**53 is the
    integer. A bool is no number. Lists and tuples are alike, dicts have no order, types of specs are their
    name and fields. A tensor is its dtype, size and elements, however it is laid out.

    Raises:
        Unsendable: as `encode` does.
    """
    return _form(decode(*encode(value)))


def _form(value: object) -> bytes:
    np, th = sys.modules.get("numpy"), sys.modules.get("torch")
    if value is None or isinstance(value, bool):
        return _part(b"c", repr(value).encode())
    if isinstance(value, int | float):
        return _part(b"n", _number(value).encode())
    if isinstance(value, str):
        return _part(b"s", value.encode())
    if isinstance(value, bytes):
        return _part(b"b", value)
    if isinstance(value, list | tuple):
        return _part(b"l", b"".join(map(_form, value)))
    if isinstance(value, dict):
        return _part(b"d", b"".join(sorted(_form(key) + _form(item) for key, item in value.items())))
    if np is not None and isinstance(value, np.ndarray):
        return _part(b"a", _array(value))
    if th is not None and isinstance(value, th.Tensor):
        return _part(b"t", _tensor(value))
    if th is not None and isinstance(value, th.dtype):
        return _part(b"y", str(value).encode())
    return _part(b"m", _spec(value))  # type: ignore[arg-type]  # nothing else comes out of decode


def _part(kind: bytes, content: bytes) -> bytes:
    return b"%b%d:%b" % (kind, len(content), content)


def _number(value: int | float) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return f"{value:.9g}"


def _array(array: "numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]") -> bytes:
    return f"{array.dtype.name}{list(array.shape)}".encode() + array.tobytes()


def _tensor(tensor: "torch.Tensor") -> bytes:
    dense = tensor.detach().contiguous()
    size_bytes = dense.numel() * dense.element_size()
    content = ctypes.string_at(dense.data_ptr(), size_bytes) if size_bytes else b""
    return f"{dense.dtype}{list(dense.size())}".encode() + content


def _spec(model: "BaseModel") -> bytes:
    return type(model).__name__.encode() + _form(model.model_dump(round_trip=True, warnings=False))
