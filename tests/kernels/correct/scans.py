"""Scans: a cumulative sum with a carry between blocks, and a gated linear recurrence by associative_scan."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=0.0).to(tl.float32)
        y = tl.cumsum(x, axis=0) + carry
        carry += tl.sum(x, axis=0)
        tl.store(y_ptr + row * N + columns, y.to(y_ptr.dtype.element_ty), mask=columns < N)


def cumsum(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    cumsum_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
    return y


@triton.jit
def compose(a_left, b_left, a_right, b_right):
    return a_left * a_right, b_left * a_right + b_right


@triton.jit
def recurrence_kernel(a_ptr, b_ptr, h_ptr, T, C, BT: tl.constexpr, BC: tl.constexpr):
    t = tl.arange(0, BT)
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    offsets = t[:, None] * C + c[None, :]
    mask = (t[:, None] < T) & (c[None, :] < C)
    a = tl.load(a_ptr + offsets, mask=mask, other=1.0).to(tl.float32)
    b = tl.load(b_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    _, h = tl.associative_scan((a, b), 0, compose)
    tl.store(h_ptr + offsets, h.to(h_ptr.dtype.element_ty), mask=mask)


def recurrence(a: Tensor, b: Tensor) -> Tensor:
    """h[t] = a[t] h[t − 1] + b[t], each channel for itself; (T, C)."""
    T, C = a.shape
    h = torch.empty_like(b)
    recurrence_kernel[(triton.cdiv(C, 16),)](a, b, h, T, C, BT=triton.next_power_of_2(T), BC=16)
    return h


def rows(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(9, 150, dtype=dtype, seed=seed) + 0.25,), {}


def gates(dtype: torch.dtype, seed: int) -> Inputs:
    return (
        torch.sigmoid(randn(50, 20, dtype=dtype, seed=seed) + 2),
        randn(50, 20, dtype=dtype, seed=seed + 1),
    ), {}


def recurrence_reference(m, a: Tensor, b: Tensor) -> Tensor:
    h, out = torch.zeros_like(m.up(b[0])), []
    for gate, value in zip(m.up(a), m.up(b), strict=True):
        h = gate * h + value
        if m.low_sums:
            h = m.narrow(h)
        out.append(h)
    return m.narrow(torch.stack(out))


def cumsum_reference(m, x: Tensor) -> Tensor:
    return recurrence_reference(m, torch.ones_like(x.t()), x.t()).t()


CASES = [
    Case("cumsum_with_carry", cumsum, rows, cumsum_reference),
    Case("linear_recurrence_associative_scan", recurrence, gates, recurrence_reference),
]
