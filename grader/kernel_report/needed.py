"""What a call's result needs whatever the kernel does: bytes of its inputs and outputs, FLOPs of known families.

From shapes and dtypes alone, so that the time that follows bounds every kernel with these inputs, the user's or a
better one. What the meter saw of the user's kernel has no part in it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from grader.kernel_report.families import Shape
from grader.kernel_report.task import Answer, Tensor
from grader.kernels.speed_of_light import shape_floor
from specs.dtypes import DType
from specs.gpu import Gpu

_RATES: dict[str, DType] = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float64": "fp64"}
_MATMUL = re.compile(r"matmul|gemm|(^|_)mm|linear|split_k", re.IGNORECASE)


class Needed(BaseModel):
    """Work that no kernel can leave out."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    """Inputs read once and outputs written once."""
    flops: int = 0
    dtype: DType = "fp32"
    """In which the multiplications run at best: fp32 tensors may be multiplied in TF32."""
    family: str = ""
    """attention or matmul; "" where only the bytes are known."""
    time_s: float
    """The longer of both at the peak rates; L2 starts empty."""


def needed(answer: Answer, function: str, gpu: Gpu, backward: bool) -> Needed | None:
    """Bound a call from the shapes of its arguments and results; None where it has no results.

    Args:
        function: its name, which tells a matmul of square matrices from a sum.

    Raises:
        SpecError: the GPU has no rate for the dtype.
    """
    if not answer.outputs:
        return None
    moved = sum(each.bytes for each in (*answer.inputs, *answer.outputs))
    if backward:
        floats = [each for each in answer.inputs if each.dtype in _RATES]
        moved += sum(each.bytes for each in floats)  # their gradients
    family, flops = _flops({each.name.lower(): each for each in answer.inputs}, answer, function, backward)
    dtype = _RATES.get(answer.inputs[0].dtype, "fp32") if answer.inputs else "fp32"
    if dtype == "fp32" and "tf32" in gpu.dense_tflops:
        dtype = "tf32"
    return Needed(
        bytes=moved,
        flops=flops,
        dtype=dtype,
        family=family,
        time_s=shape_floor(gpu, {dtype: flops} if flops else {}, moved, cold=True),
    )


def _flops(inputs: Mapping[str, Tensor], answer: Answer, function: str, backward: bool) -> tuple[str, int]:
    out = answer.outputs[0].shape
    q, k, v = (inputs.get(name) or inputs.get(longer) for name, longer in _ATTENTION)
    if q and k and v and len(q.shape) >= 2 and out == (*q.shape[:-1], v.shape[-1]):
        pairs = _pairs(q.shape, k.shape, answer.others)
        # Two products forward; backward dV, dP, dQ, dK, where P need not be computed again if it was kept.
        forward = 2 * pairs * (q.shape[-1] + v.shape[-1])
        return "attention", forward * 3 if backward else forward
    return _matmul([each.shape for each in answer.inputs], out, function, backward)


_ATTENTION = (("q", "query"), ("k", "key"), ("v", "value"))


def _pairs(q: Shape, k: Shape, others: Mapping[str, Any]) -> int:
    """Pairs of a query and a key it sees, of all heads; causal is aligned bottom-right.

    A function that does not say whether it is causal may be: the fewer pairs are the bound.
    """
    heads = 1
    for size in q[:-2]:
        heads *= size
    queries, keys = q[-2], k[-2]
    if not any(others.get(name) is False for name in ("causal", "is_causal")):
        return heads * sum(max(0, min(at + keys - queries + 1, keys)) for at in range(queries))
    return heads * queries * keys


def _matmul(inputs: Sequence[Shape], out: Shape, function: str, backward: bool) -> tuple[str, int]:
    if len(inputs) < 2 or any(len(shape) != 2 for shape in (*inputs[:2], out)):
        return "", 0
    (m, inner), second = inputs[:2]
    if out[0] != m or sorted(second) != sorted((inner, out[1])):
        return "", 0
    if not _MATMUL.search(function) and second == inputs[0]:
        return "", 0  # it may as well be a sum of two matrices
    flops = 2 * m * inner * out[1]
    return "matmul", flops * 3 if backward else flops
