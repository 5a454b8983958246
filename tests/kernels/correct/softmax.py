"""Softmax over rows: a row in one block, and an online one over long rows."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_row, out_row, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + columns, e / tl.sum(e, axis=0), mask=mask)


def softmax(x: Tensor) -> Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    softmax_kernel[(rows,)](x, out, x.stride(0), out.stride(0), columns, BLOCK=block)
    return out


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    running_max = -float("inf")
    running_sum = 0.0
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_columns + columns, mask=columns < n_columns, other=-float("inf"))
        x = x.to(tl.float32)
        new_max = tl.maximum(running_max, tl.max(x, axis=0))
        running_sum = running_sum * tl.exp(running_max - new_max) + tl.sum(tl.exp(x - new_max), axis=0)
        running_max = new_max
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + row * n_columns + columns, tl.exp(x - running_max) / running_sum, mask=mask)


def online_softmax(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    online_softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=256)
    return out


def reference(m, x: Tensor) -> Tensor:
    wide = m.up(x)
    e = torch.exp(wide - wide.max(-1, keepdim=True).values)
    return m.narrow(e / m.sum(e, -1)[:, None])


def strided_rows(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(19, 400, dtype=dtype, seed=seed)[:, 30:333],), {}


def long_rows(dtype: torch.dtype, seed: int) -> Inputs:
    return (3 * randn(7, 1500, dtype=dtype, seed=seed),), {}


CASES = [
    Case("softmax_one_block_rows", softmax, strided_rows, reference),
    Case("softmax_online_long_rows", online_softmax, long_rows, reference),
]
