"""The RMSNorm and softmax kernels of the solution with a switch for each usual mistake: no mistake by itself.

FAULT is a constant of the kernel, so each mistake compiles to a kernel of its own.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _rms_norm_kernel(
    x_ptr, weight_ptr, out_ptr, row_stride, width, eps, BLOCK: tl.constexpr, FAULT: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    if FAULT == "stride_as_width":
        row_stride = width
    if FAULT == "tail_not_masked":
        x = tl.load(x_ptr + row * row_stride + columns)
    else:
        x = tl.load(x_ptr + row * row_stride + columns, mask=inside, other=0.0)
    squares = x.to(tl.float32) * x.to(tl.float32)
    if FAULT == "squares_in_half":
        squares = (x * x).to(tl.float32)
    x = x.to(tl.float32)
    if FAULT == "mean_subtracted":
        x = tl.where(inside, x - tl.sum(x, axis=0) / width, 0.0)
        squares = x * x
    weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    mean_square = tl.sum(squares, axis=0) / width
    if FAULT == "divided_by_block":
        mean_square = tl.sum(squares, axis=0) / BLOCK
    if FAULT == "sum_not_divided":
        mean_square = tl.sum(squares, axis=0)
    factor = tl.rsqrt(mean_square + eps)
    if FAULT == "eps_outside_root":
        factor = 1.0 / (tl.sqrt(mean_square) + eps)
    if FAULT == "eps_ignored":
        factor = tl.rsqrt(mean_square)
    if FAULT == "root_forgotten":
        factor = 1.0 / (mean_square + eps)
    out = x * factor
    if FAULT != "weight_forgotten":
        out = out * weight
    if FAULT == "store_not_masked":
        tl.store(out_ptr + row * width + columns, out.to(out_ptr.dtype.element_ty))
    else:
        tl.store(out_ptr + row * width + columns, out.to(out_ptr.dtype.element_ty), mask=inside)


def run_rms_norm(x: Tensor, weight: Tensor, eps: float, fault: str = "") -> Tensor:
    """The solution's launch with one fault in the kernel."""
    width = x.shape[-1]
    rows = x.reshape(-1, width)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = triton.next_power_of_2(width)
    _rms_norm_kernel[(rows.shape[0],)](
        rows, weight, out, rows.stride(0), width, eps, BLOCK=block, FAULT=fault
    )
    return out


@triton.jit
def _softmax_kernel(
    x_ptr, out_ptr, row_stride, column_stride, width, BLOCK: tl.constexpr, FAULT: tl.constexpr
):
    row = tl.program_id(0)
    x_row, out_row = x_ptr + row * row_stride, out_ptr + row * width
    padding = -float("inf")
    if FAULT == "padding_counted":
        padding = 0.0
    running_max = -float("inf")
    running_sum = 0.0
    if FAULT == "three_passes":
        for start in range(0, width, BLOCK):
            columns = start + tl.arange(0, BLOCK)
            x = tl.load(x_row + columns * column_stride, mask=columns < width, other=padding).to(tl.float32)
            running_max = tl.maximum(running_max, tl.max(x, axis=0))
    for start in range(0, width, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + columns * column_stride, mask=columns < width, other=padding).to(tl.float32)
        if FAULT == "base_two":
            x = x * 0.6931471805599453
        new_max = tl.maximum(running_max, tl.max(x, axis=0))
        shift = tl.where(new_max == -float("inf"), 0.0, new_max)
        if FAULT == "masked_row_nan":
            shift = new_max
        if FAULT == "no_maximum":
            shift = 0.0
        added = tl.sum(tl.exp(x - shift), axis=0)
        if FAULT == "sum_not_rescaled" or FAULT == "no_maximum":
            running_sum = running_sum + added
        else:
            running_sum = running_sum * tl.exp(running_max - shift) + added
        running_max = new_max
        if FAULT == "over_blocks":
            running_max = -float("inf")
            running_sum = 0.0
            out = tl.exp(x - shift) / tl.where(added == 0.0, 1.0, added)
            tl.store(out_row + columns, out.to(out_ptr.dtype.element_ty), mask=columns < width)
    if FAULT != "over_blocks":
        shift = tl.where(running_max == -float("inf"), 0.0, running_max)
        scale = 1.0 / tl.where(running_sum == 0.0, 1.0, running_sum)
        if FAULT == "masked_row_nan":
            shift = running_max
            scale = 1.0 / running_sum
        if FAULT == "no_maximum":
            shift = 0.0
        for start in range(0, width, BLOCK):
            columns = start + tl.arange(0, BLOCK)
            x = tl.load(x_row + columns * column_stride, mask=columns < width, other=padding).to(tl.float32)
            if FAULT == "base_two":
                x = x * 0.6931471805599453
            out = tl.exp(x - shift) * scale
            tl.store(out_row + columns, out.to(out_ptr.dtype.element_ty), mask=columns < width)


def run_softmax(
    x: Tensor, fault: str = "", *, longest: int = 1024, column_stride: int | None = None
) -> Tensor:
    """The solution's launch with one fault in the kernel, or in the launch."""
    width = x.shape[-1]
    rows = x.reshape(-1, width)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = min(triton.next_power_of_2(width), longest)
    columns_apart = rows.stride(1) if column_stride is None else column_stride
    _softmax_kernel[(rows.shape[0],)](
        rows, out, rows.stride(0), columns_apart, width, BLOCK=block, FAULT=fault
    )
    return out


@triton.jit
def _copy_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside), mask=inside)


def copied(x: Tensor) -> Tensor:
    """A contiguous copy, made by a kernel that does nothing else."""
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        _copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
