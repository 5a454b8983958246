"""RMSNorm and LayerNorm in Triton, forward and backward: each row read once, statistics in fp32.

Source: Ba et al. 2016 (Layer Normalization), Zhang & Sennrich 2019 (RMSNorm), equation 4. With x̂ = (x − μ)·r,
g = w ∘ dy and means over the row: dx = r·(g − mean(g) − x̂·mean(g ∘ x̂)), where RMSNorm has neither μ nor
mean(g); dw = Σ dy ∘ x̂ and db = Σ dy over the rows.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels_ref.tiles import check_kernel_inputs

MAX_WIDTH = 65536 // 4
"""Elements of a row: a program holds it whole, fp32, and 64 KiB of registers is what 8 warps have to spare."""

PARTIAL_ROWS = 264
"""Programs of the backward, two for each SM of an H100: each adds up dw over its share of the rows."""


@triton.jit
def norm_forward_kernel(
    x,
    weight,
    bias,
    out,
    x_stride,
    width,
    epsilon,
    BLOCK: tl.constexpr,
    CENTRED: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    """One row: LayerNorm if CENTRED, else RMSNorm."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < width
    values = tl.load(x + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
    if CENTRED:
        # The mean first, then squares about it: E[x²] − E[x]² cancels where the mean is large.
        values = tl.where(inside, values - tl.sum(values, 0) / width, 0.0)
    reciprocal = 1.0 / tl.sqrt(tl.sum(values * values, 0) / width + epsilon)
    result = values * reciprocal * tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    if HAS_BIAS:
        result += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * width + column, result.to(out.dtype.element_ty), mask=inside)


@triton.jit
def norm_backward_kernel(
    x,
    weight,
    grad_out,
    grad_x,
    part_weight,
    part_bias,
    x_stride,
    grad_stride,
    rows,
    width,
    epsilon,
    BLOCK: tl.constexpr,
    CENTRED: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    """Every num_programs-th row: dx, and this program's share of dw and db. Statistics are recomputed."""
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < width
    scale = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    sum_weight = tl.zeros([BLOCK], tl.float32)
    sum_bias = tl.zeros([BLOCK], tl.float32)
    for index in range(program, rows, tl.num_programs(0)):
        row = tl.cast(index, tl.int64)
        values = tl.load(x + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
        grad = tl.load(grad_out + row * grad_stride + column, mask=inside, other=0.0).to(tl.float32)
        if CENTRED:
            values = tl.where(inside, values - tl.sum(values, 0) / width, 0.0)
        reciprocal = 1.0 / tl.sqrt(tl.sum(values * values, 0) / width + epsilon)
        normal = values * reciprocal
        scaled = grad * scale
        grad_row = scaled - normal * (tl.sum(scaled * normal, 0) / width)
        if CENTRED:
            grad_row -= tl.sum(scaled, 0) / width
        tl.store(
            grad_x + row * width + column, (grad_row * reciprocal).to(grad_x.dtype.element_ty), mask=inside
        )
        sum_weight += grad * normal
        sum_bias += grad
    tl.store(part_weight + program * width + column, sum_weight, mask=inside)
    if HAS_BIAS:
        tl.store(part_bias + program * width + column, sum_bias, mask=inside)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float = 1e-6) -> Tensor:
    """x / √(mean(x²) + ε) · weight over the last dimension, with gradients.

    x: (..., N), fp16, bf16 or fp32, N ≤ 16384; weight: (N,) of the same dtype. Returns x's shape and dtype.

    Raises:
        ValueError: the weight's shape is not (N,), or N is too large.
        TypeError: dtypes differ or are not among the three.
    """
    _check(x, weight)
    out: Tensor = _Norm.apply(x, weight, None, epsilon)  # type: ignore[no-untyped-call]
    return out


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """(x − mean) / √(variance + ε) · weight + bias over the last dimension, with gradients; as `rms_norm`."""
    _check(x, weight, bias)
    out: Tensor = _Norm.apply(x, weight, bias, epsilon)  # type: ignore[no-untyped-call]
    return out


class _Norm(torch.autograd.Function):
    """RMSNorm where there is no bias, else LayerNorm."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, epsilon: float) -> Tensor:
        rows = _as_rows(x)
        ctx.save_for_backward(rows, weight)
        ctx.epsilon, ctx.has_bias, ctx.shape = epsilon, bias is not None, x.shape
        out = torch.empty(rows.shape, dtype=x.dtype, device=x.device)
        if out.numel():
            norm_forward_kernel[(rows.shape[0],)](
                rows,
                weight.contiguous(),
                weight if bias is None else bias.contiguous(),
                out,
                rows.stride(0),
                rows.shape[1],
                epsilon,
                **_launch_options(rows.shape[1], bias is not None),
            )
        return out.reshape(x.shape)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        grad_rows = _as_rows(grads[0])
        grad_x = torch.empty(rows.shape, dtype=rows.dtype, device=rows.device)
        programs = min(rows.shape[0], PARTIAL_ROWS)
        part_weight = torch.empty(programs, rows.shape[1], dtype=torch.float32, device=rows.device)
        part_bias = torch.empty_like(part_weight) if ctx.has_bias else part_weight
        if grad_x.numel():
            norm_backward_kernel[(programs,)](
                rows,
                weight.contiguous(),
                grad_rows,
                grad_x,
                part_weight,
                part_bias,
                rows.stride(0),
                grad_rows.stride(0),
                *rows.shape,
                ctx.epsilon,
                **_launch_options(rows.shape[1], ctx.has_bias),
            )
        grad_weight = part_weight.sum(0).to(weight.dtype)
        grad_bias = part_bias.sum(0).to(weight.dtype) if ctx.has_bias else None
        return grad_x.reshape(ctx.shape), grad_weight, grad_bias, None


def _as_rows(x: Tensor) -> Tensor:
    """(..., N) as (rows, N) with unit stride in N."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(-1) == 1 else rows.contiguous()


def _launch_options(width: int, centred: bool) -> dict[str, Any]:
    block = triton.next_power_of_2(width)
    return {
        "BLOCK": block,
        "CENTRED": centred,
        "HAS_BIAS": centred,
        "num_warps": min(8, max(1, block // 256)),
    }


def _check(x: Tensor, *parameters: Tensor) -> None:
    check_kernel_inputs(x, *parameters)
    width = x.shape[-1] if x.ndim else 0
    if any(each.shape != (width,) for each in parameters):
        shapes = ", ".join(str(tuple(each.shape)) for each in parameters)
        raise ValueError(f"x {tuple(x.shape)} with parameters {shapes}: they must have the shape ({width},)")
    if width > MAX_WIDTH:
        raise ValueError(f"rows of {width}: these kernels hold a row whole, up to {MAX_WIDTH} elements")
