"""Blocks taken apart and put together: rotary embedding of pairs by split and join, a sort, and a batched dot."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def rope_pairs_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, T, BT: tl.constexpr, D: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, D)
    half = tl.arange(0, D // 2)
    offsets = t[:, None] * D + d[None, :]
    x = tl.load(x_ptr + offsets, mask=t[:, None] < T, other=0.0).to(tl.float32)
    cos = tl.load(cos_ptr + t[:, None] * (D // 2) + half[None, :], mask=t[:, None] < T, other=0.0)
    sin = tl.load(sin_ptr + t[:, None] * (D // 2) + half[None, :], mask=t[:, None] < T, other=0.0)
    even, odd = tl.split(tl.reshape(x, (BT, D // 2, 2)))
    y = tl.join(even * cos - odd * sin, odd * cos + even * sin)
    tl.store(y_ptr + offsets, tl.reshape(y, (BT, D)).to(y_ptr.dtype.element_ty), mask=t[:, None] < T)


def rope_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x (T, D); cos and sin (T, D / 2) in float32."""
    y = torch.empty_like(x)
    rope_pairs_kernel[(triton.cdiv(x.shape[0], 16),)](x, cos, sin, y, x.shape[0], BT=16, D=x.shape[1])
    return y


@triton.jit
def sort_kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=float("inf"))
    tl.store(y_ptr + row * N + columns, tl.sort(x), mask=columns < N)


def sort_rows(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    sort_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


@triton.jit
def batched_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + batch * M * K + m[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + batch * N * K + n[None, :, None] * K + k[None, None, :])
    c = tl.dot(a, tl.permute(b, (0, 2, 1)))
    tl.store(c_ptr + batch * M * N + m[None, :, None] * N + n[None, None, :], c.to(c_ptr.dtype.element_ty))


def batched_dot(a: Tensor, b: Tensor) -> Tensor:
    """a (B, M, K) @ b (B, N, K)ᵀ, all powers of two."""
    (B, M, K), N = a.shape, b.shape[1]
    c = torch.empty((B, M, N), dtype=a.dtype, device=a.device)
    batched_kernel[(1,)](a, b, c, B=B, M=M, N=N, K=K)
    return c


def tokens(dtype: torch.dtype, seed: int) -> Inputs:
    angle = torch.arange(21.0)[:, None] * 10000 ** (-torch.arange(16.0) / 16)
    return (randn(21, 32, dtype=dtype, seed=seed), angle.cos(), angle.sin()), {}


def rows(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(3, 29, dtype=dtype, seed=seed),), {}


def batches(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(4, 16, 32, dtype=dtype, seed=seed), randn(4, 32, 32, dtype=dtype, seed=seed + 1)), {}


def rope_reference(m, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    wide, c, s = m.up(x), m.up(cos), m.up(sin)
    even, odd = wide[:, 0::2], wide[:, 1::2]
    return m.narrow(torch.stack([even * c - odd * s, odd * c + even * s], -1).flatten(1))


CASES = [
    Case("rotary_embedding_pairs", rope_pairs, tokens, rope_reference),
    Case("sort_rows", sort_rows, rows, lambda m, x: m.up(x).sort(-1).values),
    Case("batched_dot", batched_dot, batches, lambda m, a, b: m.narrow(m.dot(m.up(a), m.up(b).mT))),
]
