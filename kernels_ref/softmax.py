"""Softmax over the last dimension in Triton: rows of any width, the maximum and the sum found in one pass.

Source: Milakov & Gimelshein 2018 (Online normalizer calculation for softmax), algorithm 3. A row that fits a
block is read once; a longer one twice, where subtracting the max in a pass of its own would read it three times.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# A kernel's parameters have no Python types; triton would take annotations for dtypes.

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels_ref.tiles import check_kernel_inputs

MAX_BLOCK = 8192
"""Elements of a block: 32 a thread at 256 threads, so that a block's row stays in registers."""


@triton.jit
def softmax_kernel(
    x, out, row_stride, column_stride, out_stride, width, BLOCK: tl.constexpr, ONE_BLOCK: tl.constexpr
):
    """One row. ONE_BLOCK: width ≤ BLOCK."""
    row = tl.program_id(0).to(tl.int64)
    x += row * row_stride
    out += row * out_stride
    column = tl.arange(0, BLOCK)
    if ONE_BLOCK:
        values = tl.load(x + column * column_stride, mask=column < width, other=-float("inf")).to(tl.float32)
        largest = tl.max(values, 0)
        # A row of −inf alone has no largest element to subtract; its weights come out as 0.
        largest = tl.where(largest == -float("inf"), 0.0, largest)
        exponentials = tl.exp(values - largest)
        total = tl.sum(exponentials, 0)
        result = exponentials / tl.where(total == 0.0, 1.0, total)
        tl.store(out + column, result.to(out.dtype.element_ty), mask=column < width)
    else:
        # Every lane keeps a max and a sum of its own: lanes meet once, after the loop.
        largest = tl.full([BLOCK], -float("inf"), tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        for start in tl.range(0, width, BLOCK):
            inside = start + column < width
            values = tl.load(x + (start + column) * column_stride, mask=inside, other=-float("inf"))
            grown = tl.maximum(largest, values.to(tl.float32))
            subtracted = tl.where(grown == -float("inf"), 0.0, grown)
            total = total * tl.exp(largest - subtracted) + tl.exp(values.to(tl.float32) - subtracted)
            largest = grown
        row_largest = tl.max(largest, 0)
        row_largest = tl.where(row_largest == -float("inf"), 0.0, row_largest)
        row_total = tl.sum(total * tl.exp(largest - row_largest), 0)
        row_total = tl.where(row_total == 0.0, 1.0, row_total)
        for start in tl.range(0, width, BLOCK):
            inside = start + column < width
            values = tl.load(x + (start + column) * column_stride, mask=inside, other=-float("inf"))
            result = tl.exp(values.to(tl.float32) - row_largest) / row_total
            tl.store(out + start + column, result.to(out.dtype.element_ty), mask=inside)


def softmax(x: Tensor, *, block: int | None = None) -> Tensor:
    """Softmax of x (..., N) over its last dimension, in x's dtype, contiguous; a row of −inf alone gives 0.

    x: fp16, bf16 or fp32, of any strides. block: elements held at once, a power of two; None: the whole row up
    to 8192.

    Raises:
        TypeError: another dtype.
        ValueError: x has no dimension, or block is no power of two.
    """
    check_kernel_inputs(x)
    if x.ndim == 0:
        raise ValueError("softmax of a scalar: give it a dimension")
    if block is not None and (block < 1 or block & (block - 1)):
        raise ValueError(f"block = {block}: give a power of two")
    rows = x.reshape(-1, x.shape[-1])
    out = torch.empty(rows.shape, dtype=x.dtype, device=x.device)
    if not out.numel():
        return out.reshape(x.shape)
    size = block or min(triton.next_power_of_2(x.shape[-1]), MAX_BLOCK)
    softmax_kernel[(rows.shape[0],)](
        rows,
        out,
        *rows.stride(),
        out.stride(0),
        rows.shape[1],
        BLOCK=size,
        ONE_BLOCK=rows.shape[1] <= size,
        num_warps=min(8, max(1, size // 256)),
    )
    return out.reshape(x.shape)
