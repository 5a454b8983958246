"""What single PTX instructions compute, on the bits of registers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import number_formats
from .number_formats import FP32, FP64, Array
from .ptx_types import TYPES, from_bits, to_bits

Compute = Callable[[Sequence[str], list[Array]], Array]

_SMALLEST_NORMAL_FP32 = np.float32(2.0**-126)
# tanh.approx.f32: largest relative error 2^-11 (PTX ISA).
_TANH_DROPPED_BITS = 13
_LANES = np.uint64(32)


class Unknown(Exception):
    """An instruction, or a form of one, that is not emulated."""


def compare(relation: str, first: Array, second: Array) -> Array:
    """setp; the forms with u are true where an operand is NaN."""
    relations: dict[str, Callable[[Array, Array], Any]] = {
        "eq": np.equal, "ne": np.not_equal,
        "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    }  # fmt: skip
    unordered = relation.endswith("u") and relation not in relations
    name = (
        relation.removesuffix("u")
        if unordered
        else {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(relation, relation)
    )
    holds: Array = relations[name](first, second)
    if first.dtype.kind == "f" or first.dtype == number_formats.BF16:
        either_nan = np.isnan(first) | np.isnan(second)
        holds = holds | either_nan if unordered else holds & ~either_nan
    return holds


def convert(suffixes: Sequence[str], words: list[Array]) -> Array:
    """cvt: the last two suffixes are the types; of two sources the first becomes the upper half."""
    target_name, source_name = suffixes[-2:]
    target, count = TYPES[target_name]
    values = [from_bits(word, source_name) for word in words]
    data = np.stack([values[1], values[0]], axis=-1) if len(values) == 2 else values[0]
    if len(values) > (1 if count == 1 else 2):
        raise Unknown("cvt." + ".".join(suffixes))
    if "relu" in suffixes:
        data = np.maximum(data, data.dtype.type(0))
    if target_name == "tf32":
        return to_bits(number_formats.round_to_tf32(data) if "rna" in suffixes else _nearest_tf32(data))
    return to_bits(_convert_values(data, target, suffixes))


def _convert_values(data: Array, target: np.dtype[Any], suffixes: Sequence[str]) -> Array:
    is_float, to_float = data.dtype.kind not in "iu", target.kind not in "iu"
    if is_float and to_float:
        if "sat" in suffixes:
            data = np.fmin(np.fmax(data, data.dtype.type(0)), data.dtype.type(1))
        return number_formats.round_float(data, target, toward_zero="rz" in suffixes)
    if is_float:
        rounded = {"rni": np.rint, "rmi": np.floor, "rpi": np.ceil}.get(
            next(iter(set(suffixes) & {"rni", "rmi", "rpi"}), "")
        )
        return number_formats.float_to_int(rounded(data) if rounded else data, target)
    if to_float:
        return number_formats.int_to_float(data, target)
    if "sat" in suffixes:
        limits = np.iinfo(target)
        data = np.clip(
            data, max(limits.min, np.iinfo(data.dtype).min), min(limits.max, np.iinfo(data.dtype).max)
        )
    return data.astype(target)


def _nearest_tf32(data: Array) -> Array:
    bits = data.view(np.uint32)
    odd = (bits >> np.uint32(13)) & np.uint32(1)
    rounded = number_formats.truncate_to_tf32((bits + np.uint32(0xFFF) + odd).view(FP32))
    return np.where(np.isfinite(data), rounded, data)


def _floats(function: Callable[..., Array]) -> Compute:
    """An instruction on floats, computed in fp64 and rounded once."""

    def compute(suffixes: Sequence[str], words: list[Array]) -> Array:
        if {"rz", "rm", "rp"} & set(suffixes):
            raise Unknown(".".join(suffixes))
        dtype = TYPES[suffixes[-1]][0]
        values = [_flushed(from_bits(word, suffixes[-1]), suffixes) for word in words]
        result = function(*(value.astype(FP64) for value in values))
        if "sat" in suffixes:
            result = np.fmin(np.fmax(result, 0.0), 1.0)
        if "relu" in suffixes:
            result = np.fmax(result, 0.0)
        return to_bits(_flushed(number_formats.round_float(result, dtype), suffixes))

    return compute


def _flushed(values: Array, suffixes: Sequence[str]) -> Array:
    if "ftz" not in suffixes or values.dtype != FP32:
        return values
    return np.where(np.abs(values) < _SMALLEST_NORMAL_FP32, np.copysign(np.float32(0), values), values)


def _numbers(floats: Callable[..., Array], integers: Callable[..., Array]) -> Compute:
    """An instruction that is there for floats and for integers, which wrap around."""
    on_floats = _floats(floats)

    def compute(suffixes: Sequence[str], words: list[Array]) -> Array:
        if TYPES[suffixes[-1]][0].kind not in "iu":
            return on_floats(suffixes, words)
        if "sat" in suffixes:
            raise Unknown(".".join(suffixes))
        values = [from_bits(word, suffixes[-1]) for word in words]
        return to_bits(integers(*values).astype(values[0].dtype))

    return compute


def _multiply(suffixes: Sequence[str], words: list[Array]) -> Array:
    dtype = TYPES[suffixes[-1]][0]
    if dtype.kind not in "iu":
        return _floats(np.multiply)(suffixes, words)
    values = [from_bits(word, suffixes[-1]).astype(object) for word in words]
    product = values[0] * values[1]
    bits = 8 * dtype.itemsize
    if "wide" in suffixes:
        return _wrapped(product, 2 * bits)
    return _wrapped(product >> bits if "hi" in suffixes else product, bits)


def _multiply_add(suffixes: Sequence[str], words: list[Array]) -> Array:
    dtype = TYPES[suffixes[-1]][0]
    if dtype.kind not in "iu":
        return _floats(lambda x, y, z: x * y + z)(suffixes, words)
    bits = 8 * dtype.itemsize * (2 if "wide" in suffixes else 1)
    return _wrapped(_multiply(suffixes, words[:2]).astype(object) + words[2].astype(object), bits)


def _wrapped(values: Array, bits: int) -> Array:
    return np.array([int(value) & ((1 << bits) - 1) for value in values], dtype=np.uint64)


def _shift_left(suffixes: Sequence[str], words: list[Array]) -> Array:
    bits = 8 * TYPES[suffixes[-1]][0].itemsize
    amount = words[1] & np.uint64(0xFFFFFFFF)
    shifted = words[0] << np.minimum(amount, np.uint64(63))
    return np.where(amount >= bits, np.uint64(0), shifted & np.uint64((1 << bits) - 1))


def _shift_right(suffixes: Sequence[str], words: list[Array]) -> Array:
    values = from_bits(words[0], suffixes[-1])
    bits = 8 * values.dtype.itemsize
    amount = words[1] & np.uint64(0xFFFFFFFF)
    # Beyond the width: the sign for signed types, 0 for others.
    clamped = np.minimum(amount, np.uint64(bits - 1)).astype(values.dtype)
    shifted = values >> clamped
    return to_bits(
        shifted if values.dtype.kind == "i" else np.where(amount >= bits, values.dtype.type(0), shifted)
    )


def _permute(suffixes: Sequence[str], words: list[Array]) -> Array:
    if list(suffixes) != ["b32"]:
        raise Unknown("prmt." + ".".join(suffixes))
    low, high, selector = (word & np.uint64(0xFFFFFFFF) for word in words)
    eight = low | high << _LANES
    result = np.zeros_like(low)
    for number in range(4):
        chosen = selector >> np.uint64(4 * number)
        byte = eight >> ((chosen & np.uint64(7)) * np.uint64(8)) & np.uint64(0xFF)
        sign = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
        result |= np.where(chosen & np.uint64(8), sign, byte) << np.uint64(8 * number)
    return result


def _lookup3(suffixes: Sequence[str], words: list[Array]) -> Array:
    a, b, c, table = words
    result = np.zeros_like(a)
    for row in range(8):
        picks = np.where(table >> np.uint64(row) & np.uint64(1), ~np.uint64(0), np.uint64(0))
        for source, bit in ((a, 4), (b, 2), (c, 1)):
            picks = picks & (source if row & bit else ~source)
        result |= picks
    return result & np.uint64(0xFFFFFFFF)


def _tanh(suffixes: Sequence[str], words: list[Array]) -> Array:
    exact = _floats(np.tanh)(suffixes, words)
    if suffixes[-1] != "f32":
        return exact
    half = np.uint64(1 << (_TANH_DROPPED_BITS - 1))
    return (exact + half) >> np.uint64(_TANH_DROPPED_BITS) << np.uint64(_TANH_DROPPED_BITS)


def _bits(function: Callable[..., Array]) -> Compute:
    def compute(suffixes: Sequence[str], words: list[Array]) -> Array:
        if suffixes[-1] == "pred":
            return function(*words) & np.uint64(1)
        return to_bits(from_bits(function(*words), suffixes[-1]))

    return compute


def _count_leading_zeros(suffixes: Sequence[str], words: list[Array]) -> Array:
    bits = 8 * TYPES[suffixes[-1]][0].itemsize
    return np.array([bits - int(value).bit_length() for value in words[0]], dtype=np.uint64)


COMPUTE: dict[str, Compute] = {
    "add": _numbers(np.add, np.add),
    "sub": _numbers(np.subtract, np.subtract),
    "mul": _multiply,
    "mad": _multiply_add,
    "fma": _multiply_add,
    "min": _numbers(np.fmin, np.minimum),
    "max": _numbers(np.fmax, np.maximum),
    "abs": _numbers(np.abs, np.abs),
    "neg": _numbers(np.negative, np.negative),
    "div": _numbers(np.divide, lambda x, y: np.trunc(x / y)),
    "rem": _numbers(np.fmod, np.fmod),
    "ex2": _floats(np.exp2),
    "lg2": _floats(np.log2),
    "sin": _floats(np.sin),
    "cos": _floats(np.cos),
    "tanh": _tanh,
    "rcp": _floats(lambda x: 1 / x),
    "sqrt": _floats(np.sqrt),
    "rsqrt": _floats(lambda x: 1 / np.sqrt(x)),
    "and": _bits(np.bitwise_and),
    "or": _bits(np.bitwise_or),
    "xor": _bits(np.bitwise_xor),
    "not": _bits(np.bitwise_not),
    "shl": _shift_left,
    "shr": _shift_right,
    "prmt": _permute,
    "lop3": _lookup3,
    "popc": lambda suffixes, words: np.bitwise_count(words[0]).astype(np.uint64),
    "clz": _count_leading_zeros,
}
