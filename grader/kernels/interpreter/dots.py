"""tl.dot with the operand rules and the precision of an H100.

Formats and instructions: the PTX that triton 3.7.1 and 3.8.0 emit for sm_90. fp32 operands of a "tf32" dot go to the
tensor core without a conversion, which reads their top 19 bits: digits are cut, not rounded.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import places
from ..evidence import Finding
from ..faults import KernelFault, UnsupportedTriton
from . import number_formats, patches
from .number_formats import BF16, FP8, FP16, FP32, Array

HOPPER = ("cuda", 90, 32)
"""The target whose rules apply: backend, capability, warp size."""

# What one instruction multiplies along k; a 16-bit accumulator is rounded after each.
_K_OF_ONE_INSTRUCTION = 16


def mend(interpreter: Any, tl: Any, ir: Any) -> None:
    """Replace the builder's dot, its operand sizes and precisions; give refusals of `tl.dot` a line and a remedy."""
    builder = interpreter.InterpreterBuilder
    precision_names = _precision_names(ir)
    least_sizes, options = _rules_of_compiler()

    def create_dot(self: Any, a: Any, b: Any, d: Any, input_precision: Any, *rest: Any, **more: Any) -> Any:
        product = _multiply(a, b, d.data, precision_names.get(str(input_precision), "ieee"))
        if product is None:
            return unmended_dot(self, a, b, d, input_precision, *rest, **more)
        return interpreter.TensorHandle(product, d.dtype.scalar)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        unmended_init(self, *args, **kwargs)
        apply_rules(self)

    def apply_rules(built: Any) -> None:
        built.options = dataclasses.replace(built.options, **options)
        built.codegen_fns["min_dot_size"] = least_sizes

    unmended_dot = patches.replace(builder, "create_dot", create_dot)
    unmended_init = patches.replace(builder, "__init__", __init__)
    apply_rules(interpreter.interpreter_builder)
    semantic = interpreter.TritonSemantic
    patches.replace(semantic, "dot", _explaining(patches.current(semantic, "dot")))


def _rules_of_compiler() -> tuple[Callable[..., Any], dict[str, Any]]:
    """Least sizes and precisions, asked of the installed compiler's own CUDA backend."""
    try:
        from triton.backends.compiler import GPUTarget
        from triton.backends.nvidia.compiler import CUDAOptions, min_dot_size
    except ImportError as error:
        raise UnsupportedTriton(f"this triton has no CUDA compiler ({error}); {patches.REMEDY}") from error
    precisions = CUDAOptions.allowed_dot_input_precisions
    return min_dot_size(GPUTarget(*HOPPER)), {"allowed_dot_input_precisions": precisions}


def _precision_names(ir: Any) -> dict[str, str]:
    members = {
        name: getattr(ir.INPUT_PRECISION, name, None)
        for name in ("TF32", "TF32x3", "IEEE", "BF16x3", "BF16x6")
    }
    return {str(member): name.lower() for name, member in members.items() if member is not None}


def _multiply(a: Any, b: Any, accumulator: Array, precision: str) -> Array | None:
    """a @ b + accumulator; None for what the interpreter does rightly already (integers, fp64)."""
    left, right = _operand(a), _operand(b)
    if left is None or right is None:
        return None
    if a.dtype.scalar.name == b.dtype.scalar.name == "fp32":
        return _multiply_fp32(left, right, accumulator, precision)
    if accumulator.dtype == FP16:
        return _multiply_into_fp16(left, right, accumulator)
    # Products of two 8 or 16-bit floats are exact in fp32.
    return _plus(left, right, accumulator)


def _operand(handle: Any) -> Array | None:
    name = handle.dtype.scalar.name
    data: Array = handle.data.view(FP8[name]) if name in FP8 else handle.data
    if data.dtype == FP32:
        return data
    return data.astype(FP32) if data.dtype in (BF16, FP16) or name in FP8 else None


def _multiply_fp32(left: Array, right: Array, accumulator: Array, precision: str) -> Array:
    if precision == "tf32":
        return _plus(
            number_formats.truncate_to_tf32(left), number_formats.truncate_to_tf32(right), accumulator
        )
    if precision == "ieee":
        return _plus(left, right, accumulator)
    round_part = number_formats.round_to_tf32 if precision == "tf32x3" else _through_bf16
    count = 3 if precision == "bf16x6" else 2
    lefts, rights = _split(left, round_part, count), _split(right, round_part, count)
    # Small products first, as the compiler orders them; those of two small parts are left out.
    pairs = [(i, j) for i in range(count) for j in range(count) if i + j < count]
    small: Array = np.zeros(accumulator.shape, dtype=FP32)
    for i, j in sorted(pairs, key=sum, reverse=True)[:-1]:
        small = _plus(lefts[i], rights[j], small)
    # As the compiler has it: what an infinity leaves of itself is NaN, and counts as nothing.
    small = np.where(np.isnan(small), np.float32(0), small)
    return _plus(lefts[0], rights[0], small) + accumulator


def _plus(left: Array, right: Array, accumulator: Array) -> Array:
    result: Array = np.matmul(left, right) + accumulator
    return result


def _split(data: Array, round_part: Callable[[Array], Array], count: int) -> list[Array]:
    parts = []
    for _ in range(count):
        part = round_part(data)
        parts.append(part)
        data = data - part
    return parts


def _through_bf16(data: Array) -> Array:
    return data.astype(BF16).astype(FP32)


def _multiply_into_fp16(left: Array, right: Array, accumulator: Array) -> Array:
    total = accumulator
    for start in range(0, left.shape[-1], _K_OF_ONE_INSTRUCTION):
        stop = start + _K_OF_ONE_INSTRUCTION
        step = np.matmul(left[..., start:stop], right[..., start:stop, :])
        total = (step + total.astype(FP32)).astype(FP16)
    return total


def _explaining(dot: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler's refusals are asserts and ValueErrors of the same code; give them line and remedy."""

    def explaining(self: Any, lhs: Any, rhs: Any, *rest: Any, **options: Any) -> Any:
        try:
            return dot(self, lhs, rhs, *rest, **options)
        except (AssertionError, ValueError) as error:
            place, kernel = places.here()
            # 3.7 says nothing about an accumulator that does not fit.
            refusal = str(error) or "the accumulator does not fit"
            message = f"tl.dot of {_describe(lhs)} and {_describe(rhs)}: {refusal}; {_remedy(lhs, refusal)}"
            finding = Finding(kind="dot_operands", kernel=kernel, place=place, message=message)
            raise KernelFault(finding) from error

    return explaining


def _describe(operand: Any) -> str:
    shape = "×".join(str(getattr(size, "value", size)) for size in operand.shape) or "a scalar"
    return f"{shape} {operand.dtype}"


def _remedy(lhs: Any, refusal: str) -> str:
    if "same dtype" in refusal:
        return f"cast one of them, for example b.to({_name_in_language(lhs)})"
    if "nsupported" in refusal and "dtype" in refusal:
        return "the tensor core takes fp8, fp16, bf16, fp32 and int8: cast the operands, cast the result afterwards"
    if "should have M" in refusal:
        return "make the tile larger along the short dimension and mask what lies beyond the data"
    if "accumulator" in refusal:
        return "give it the shape M×N of the result and the dtype out_dtype, which is tl.float32 by default"
    return "check shapes, dtypes and input_precision of both operands"


def _name_in_language(operand: Any) -> str:
    names = {"fp16": "tl.float16", "bf16": "tl.bfloat16", "fp32": "tl.float32", "fp64": "tl.float64"}
    return names.get(operand.dtype.name, f"tl.{operand.dtype.name}")
