"""Loops whose length depends on data: Newton's square root, and a binary search, both with `while`."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def newton_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    y = tl.maximum(x, 1.0)
    change = 1.0
    while change > 1e-6:
        better = 0.5 * (y + x / y)
        change = tl.max(tl.abs(better - y) / better, axis=0)
        y = better
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def newton_sqrt(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    newton_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y


@triton.jit
def search_kernel(edges_ptr, x_ptr, out_ptr, n, n_edges, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    lo = tl.zeros((BLOCK,), dtype=tl.int32)
    hi = tl.zeros((BLOCK,), dtype=tl.int32) + n_edges
    while tl.max(hi - lo, axis=0) > 0:
        middle = (lo + hi) // 2
        open_ = lo < hi
        below = tl.load(edges_ptr + middle, mask=open_, other=0.0) < x
        lo = tl.where(open_ & below, middle + 1, lo)
        hi = tl.where(open_ & ~below, middle, hi)
    tl.store(out_ptr + offsets, lo, mask=mask)


def search(edges: Tensor, x: Tensor) -> Tensor:
    out = torch.empty(x.shape, dtype=torch.int32, device=x.device)
    search_kernel[(triton.cdiv(x.numel(), 64),)](edges, x, out, x.numel(), edges.numel(), BLOCK=64)
    return out


def positive(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(300, dtype=dtype, seed=seed).abs() * 5 + 0.1,), {}


def sorted_edges(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(37, dtype=dtype, seed=seed).sort().values, randn(150, dtype=dtype, seed=seed + 1)), {}


CASES = [
    Case("newton_sqrt_while", newton_sqrt, positive, lambda m, x: m.narrow(torch.sqrt(m.up(x)))),
    Case(
        "binary_search_while",
        search,
        sorted_edges,
        lambda m, edges, x: torch.searchsorted(m.up(edges), m.up(x)),
    ),
]
