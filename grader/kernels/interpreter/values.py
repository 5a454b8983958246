"""The interpreter's numbers: types, constants, casts and arithmetic as the device does them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import number_formats, patches
from .number_formats import BF16, FP8, FP32, FP64

_FP8_NAMES = {*FP8, "fp8e4b15"}

# Each is one instruction on floats, and the compiler has none of them for 8-bit floats.
_COMPARISONS = ("LT", "GT", "LE", "GE", "EQ", "NE")
_FLOAT_OPERATIONS = (
    *(
        "create_fadd",
        "create_fsub",
        "create_fmul",
        "create_fdiv",
        "create_precise_divf",
        "create_frem",
        "create_fma",
    ),
    *("create_fabs", "create_fneg", "create_minimumf", "create_minnumf", "create_maximumf", "create_maxnumf"),
    "create_clampf",
    *(f"create_fcmp{order}{relation}" for order in "OU" for relation in _COMPARISONS),
)


def mend(interpreter: Any, tl: Any, ir: Any) -> None:
    """Replace type table, constants, casts and float operations of `triton.runtime.interpreter`."""
    handle = interpreter.TensorHandle
    builder = interpreter.InterpreterBuilder
    _mend_types(interpreter, tl)

    def get_bf16(self: Any, value: float) -> Any:
        return handle(number_formats.round_float(np.array([value], dtype=FP64), BF16), tl.bfloat16)

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        return handle(_cast(src.data, source, target, interpreter._get_np_dtype(target)), target)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        if "fp8e4b15" in (source.name, target.name):
            return unmended_fp_to_fp(self, src, dst_type, rounding_mode)
        toward_zero = rounding_mode == ir.ROUNDING_MODE.RTZ
        return handle(_cast(src.data, source, target, interpreter._get_np_dtype(target), toward_zero), target)

    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        # One rounding: the product is exact in the wider format. fp64 has no wider one.
        wide = FP64 if z.data.dtype.itemsize >= 4 else FP32
        exact = x.data.astype(wide) * y.data.astype(wide) + z.data.astype(wide)
        return handle(exact.astype(z.data.dtype), z.dtype.scalar)

    def create_clampf(self: Any, arg: Any, lo: Any, hi: Any, propagate_nans: Any) -> Any:
        if propagate_nans == ir.PROPAGATE_NAN.NONE:
            return self.binary_op(self.binary_op(arg, lo, np.fmax), hi, np.fmin)
        return self.binary_op(self.binary_op(arg, lo, np.maximum), hi, np.minimum)

    def create_ashr(self: Any, lhs: Any, rhs: Any) -> Any:
        # 3.7's changes the operands' own arrays, so that a later use of them is signed too.
        return unmended_ashr(self, handle(lhs.data, lhs.dtype), handle(rhs.data, rhs.dtype))

    patches.add(builder, "get_bf16", get_bf16)
    patches.replace(builder, "cast_impl", cast_impl)
    unmended_fp_to_fp = patches.replace(builder, "create_fp_to_fp", create_fp_to_fp)
    patches.replace(builder, "create_fma", create_fma)
    patches.replace(builder, "create_clampf", create_clampf)
    unmended_ashr = patches.replace(builder, "create_ashr", create_ashr)
    # Minimum and maximum that do not propagate NaN: 3.7 propagates.
    patches.replace(builder, "create_minnumf", lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin))
    patches.replace(builder, "create_maxnumf", lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax))
    for name in _FLOAT_OPERATIONS:
        if hasattr(builder, name):
            patches.replace(builder, name, _refusing_fp8(patches.current(builder, name)))


def _mend_types(interpreter: Any, tl: Any) -> None:
    unmended = interpreter._get_np_dtype
    scalars = (
        *(tl.int1, tl.int8, tl.uint8, tl.int16, tl.uint16, tl.int32, tl.uint32, tl.int64, tl.uint64),
        *(tl.float16, tl.float32, tl.float64, tl.float8e5, tl.float8e5b16, tl.float8e4nv, tl.float8e4b8),
        tl.float8e4b15,
    )
    table = {scalar.name: unmended(scalar) for scalar in scalars}
    table["bf16"] = BF16

    def _get_np_dtype(tt_dtype: Any) -> np.dtype[Any]:
        element = getattr(tt_dtype, "element_ty", tt_dtype) if tt_dtype.is_block() else tt_dtype
        known: np.dtype[Any] = table.get(element.name) or unmended(tt_dtype)
        return known

    patches.replace(interpreter, "_get_np_dtype", _get_np_dtype)


def _cast(data: Any, source: Any, target: Any, numpy_target: np.dtype[Any], toward_zero: bool = False) -> Any:
    if source.name in FP8:
        data = data.view(FP8[source.name])
    if target.name in FP8:
        if not source.is_floating():
            data = data.astype(FP32)
        return number_formats.round_float(data, FP8[target.name], toward_zero).view(np.uint8)
    if source.is_floating() and target.is_floating():
        return number_formats.round_float(data, numpy_target, toward_zero)
    if source.is_floating() and numpy_target.kind in "iu":
        return number_formats.float_to_int(data, numpy_target)
    if target.is_floating() and data.dtype.kind in "iu":
        return number_formats.int_to_float(data, numpy_target)
    return data.astype(numpy_target)


def _refusing_fp8(operation: Callable[..., Any]) -> Callable[..., Any]:
    def refusing(self: Any, operand: Any, *others: Any) -> Any:
        name = operand.dtype.scalar.name
        if name in _FP8_NAMES:
            raise TypeError(f"{name} has no arithmetic on the GPU: cast it first, x.to(tl.float32)")
        return operation(self, operand, *others)

    return refusing
