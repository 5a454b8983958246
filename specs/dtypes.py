"""Bytes per element of every number format that the kit names."""

from typing import Literal

DType = Literal["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "nf4", "int4"]

# tf32 is a tensor-core mode: in memory it is fp32. nf4 is 4 bits before its quantisation constants (QLoRA, section 3).
DTYPE_BYTES: dict[DType, float] = {
    "fp64": 8,
    "fp32": 4,
    "tf32": 4,
    "bf16": 2,
    "fp16": 2,
    "fp8": 1,
    "int8": 1,
    "fp4": 0.5,
    "nf4": 0.5,
    "int4": 0.5,
}
