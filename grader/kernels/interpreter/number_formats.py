"""Rounding between number formats as an H100 does it, on numpy arrays.

Sources: the PTX that triton 3.7.1 and 3.8.0 emit for sm_90 (`cvt.rn.bf16.f32`, `cvt.rn.satfinite.e4m3x2.f32`,
`cvt.rzi.s32.f32`, no conversion at all before a TF32 multiplication) and the PTX ISA's rules for them.
"""

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

BF16 = np.dtype(ml_dtypes.bfloat16)
FP16 = np.dtype(np.float16)
FP32 = np.dtype(np.float32)
FP64 = np.dtype(np.float64)

# By triton's names. fp8e4b15 is triton's own and has no numpy type.
FP8: dict[str, np.dtype[Any]] = {
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp8e4b8": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "fp8e5b16": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
_SATURATES_AT = {"fp8e4nv": 448.0, "fp8e5": 57344.0, "fp8e4b8": 240.0, "fp8e5b16": 57344.0}

_TF32_DROPPED_BITS = 13


def round_float(data: Array, target: np.dtype[Any], toward_zero: bool = False) -> Array:
    """To another floating type: once, to nearest even, or toward zero as `fp_downcast_rounding="rtz"` asks."""
    if data.dtype == target:
        return data
    if target in FP8.values():
        return _to_fp8(data, target, toward_zero)
    if data.dtype in FP8.values():
        data = data.astype(FP32)
    if target == BF16 and data.dtype == FP64:
        rounded: Array = _to_odd_fp32(data).astype(BF16)
    else:
        rounded = data.astype(target)
    return _step_back_where_larger(rounded, data) if toward_zero else rounded


def int_to_float(data: Array, target: np.dtype[Any]) -> Array:
    """One rounding, as `cvt.rn.bf16.s32` does it (numpy and ml_dtypes would go through fp32 and round twice)."""
    if target in (BF16, FP16) and data.dtype.itemsize > 2:
        return round_float(data.astype(FP64), target)
    return data.astype(target)


def float_to_int(data: Array, target: np.dtype[Any]) -> Array:
    """Toward zero and saturating; NaN gives 0. Bytes are converted as 16-bit integers and then cut, as the PTX does."""
    via = np.dtype(f"{target.kind}2") if target.itemsize == 1 else target
    limits = np.iinfo(via)
    exact = data.astype(FP64)
    low, high = float(limits.min), float(limits.max)
    inside = np.where(np.isnan(exact), 0.0, np.clip(exact, low, high))
    # 2**63 - 1 is not an fp64 number: the clip above left 2**63, which does not fit.
    too_large = inside >= high
    converted = np.where(too_large, 0.0, inside).astype(via)
    return np.where(too_large, limits.max, converted).astype(via).astype(target)


def truncate_to_tf32(data: Array) -> Array:
    """What the tensor core reads of an fp32 operand: the top 19 bits. Triton emits no conversion before it."""
    kept = np.uint32(0xFFFFFFFF << _TF32_DROPPED_BITS & 0xFFFFFFFF)
    return (data.view(np.uint32) & kept).view(FP32)


def round_to_tf32(data: Array) -> Array:
    """`cvt.rna.tf32.f32`: to nearest, ties away from zero; what triton emits for `input_precision="tf32x3"`."""
    half = np.uint32(1 << (_TF32_DROPPED_BITS - 1))
    rounded = truncate_to_tf32((data.view(np.uint32) + half).view(FP32))
    return np.where(np.isfinite(data), rounded, data)


def _to_fp8(data: Array, target: np.dtype[Any], toward_zero: bool) -> Array:
    name = next(name for name, dtype in FP8.items() if dtype == target)
    limit = _SATURATES_AT[name]
    # satfinite: infinities become the largest number as well; NaN stays.
    wide = np.clip(data.astype(FP64 if data.dtype == FP64 else FP32), -limit, limit)
    narrow: Array = (_to_odd_fp32(wide) if wide.dtype == FP64 else wide).astype(target)
    return _step_back_where_larger(narrow, wide) if toward_zero else narrow


def _to_odd_fp32(data: Array) -> Array:
    """fp64 to fp32 with the last bit set where digits were lost: a second rounding then is as good as one."""
    near = data.astype(FP32)
    back = near.astype(FP64)
    bits = _step_back_where_larger(near, data).view(np.uint32)
    inexact = np.isfinite(data) & (back != data)
    return np.where(inexact, bits | np.uint32(1), near.view(np.uint32)).view(FP32)


def _step_back_where_larger(rounded: Array, exact: Array) -> Array:
    bits = np.dtype(f"u{rounded.dtype.itemsize}")
    wide = FP64 if exact.dtype == FP64 else FP32
    larger = np.abs(rounded.astype(wide)) > np.abs(exact.astype(wide))
    # Floats are sign and magnitude: one less in the bits is the next number toward zero.
    stepped: Array = (np.ascontiguousarray(rounded).view(bits) - larger.astype(bits)).view(rounded.dtype)
    return stepped
