"""PTX's types on numpy: the bits of a register to values and back, and literals."""

import re
from typing import Any

import numpy as np

from .number_formats import BF16, FP8, FP16, FP32, FP64, Array

# Name: numpy type of an element, how many elements one register holds.
TYPES: dict[str, tuple[np.dtype[Any], int]] = {
    **{f"{letter}{bits}": (np.dtype(f"u{bits // 8}"), 1) for letter in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": (np.dtype(f"i{bits // 8}"), 1) for bits in (8, 16, 32, 64)},
    "f16": (FP16, 1),
    "bf16": (BF16, 1),
    "f32": (FP32, 1),
    "tf32": (FP32, 1),
    "f64": (FP64, 1),
    "f16x2": (FP16, 2),
    "bf16x2": (BF16, 2),
    "e4m3x2": (FP8["fp8e4nv"], 2),
    "e5m2x2": (FP8["fp8e5"], 2),
    "pred": (np.dtype(np.uint8), 1),
}


def from_bits(word: Array, type_name: str) -> Array:
    """Values of a register: shape (instances,), or (instances, 2) for two in one register, the low one first."""
    dtype, count = TYPES[type_name]
    whole = np.ascontiguousarray(word.astype(np.dtype(f"u{dtype.itemsize * count}")))
    values: Array = whole.view(dtype)
    return values.reshape(-1, count) if count > 1 else values


def to_bits(values: Array) -> Array:
    """The register that holds the values."""
    count = values.shape[1] if values.ndim == 2 else 1
    whole = np.ascontiguousarray(values).view(np.dtype(f"u{values.dtype.itemsize * count}"))
    return whole.reshape(-1).astype(np.uint64)


def literal(text: str) -> int | None:
    """The bits of a number as PTX writes it; None for what is no number. A decimal fraction is an fp32."""
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}", text):
        return int(text[2:], 16)
    if re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|\d+)[uU]?", text):
        return int(text.rstrip("uU"), 0) & 0xFFFFFFFFFFFFFFFF
    if re.fullmatch(r"[+-]?\d*\.\d*(e[+-]?\d+)?", text) and any(part.isdigit() for part in text):
        return int(np.float32(text).view(np.uint32))
    return None
