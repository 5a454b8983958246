"""Decoding: attention of one query row over a split key-value cache with a combining kernel; batched GEMV."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def split_kernel(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, lengths_ptr, kb, kt, scale, SPLITS: tl.constexpr, D: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    b, split = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, D)
    length = tl.load(lengths_ptr + b)
    per_split = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK) * BLOCK
    lo = split * per_split
    hi = min(lo + per_split, length)
    q = tl.load(q_ptr + b * D + d).to(tl.float32)
    m = -float("inf")
    denominator = 0.0
    acc = tl.zeros((D,), dtype=tl.float32)
    for start in range(lo, hi, BLOCK):
        t = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + b * kb + t[:, None] * kt + d[None, :], mask=t[:, None] < hi, other=0.0)
        v = tl.load(v_ptr + b * kb + t[:, None] * kt + d[None, :], mask=t[:, None] < hi, other=0.0)
        s = tl.where(t < hi, tl.sum(k.to(tl.float32) * q[None, :], 1) * scale, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 0))
        p = tl.exp(s - m_new)
        alpha = tl.exp(m - m_new)
        denominator = denominator * alpha + tl.sum(p, 0)
        acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), 0)
        m = m_new
    # A split without keys has lse −inf and weighs nothing.
    lse = tl.where(hi > lo, m + tl.log(denominator), -float("inf"))
    tl.store(lse_ptr + b * SPLITS + split, lse)
    tl.store(part_ptr + (b * SPLITS + split) * D + d, tl.where(hi > lo, acc / denominator, 0.0))


@triton.jit
def combine_kernel(part_ptr, lse_ptr, o_ptr, SPLITS: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    s = tl.arange(0, SPLITS)
    d = tl.arange(0, D)
    lse = tl.load(lse_ptr + b * SPLITS + s)
    weights = tl.exp(lse - tl.max(lse, 0))
    part = tl.load(part_ptr + (b * SPLITS + s[:, None]) * D + d[None, :])
    o = tl.sum(part * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(o_ptr + b * D + d, o.to(o_ptr.dtype.element_ty))


def decode(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    """q (B, D), k and v (B, T_max, D) of one layout, of which the first lengths[b] rows count."""
    B, D = q.shape
    part = torch.empty((B, 4, D), dtype=torch.float32, device=q.device)
    lse = torch.empty((B, 4), dtype=torch.float32, device=q.device)
    o = torch.empty_like(q)
    split_kernel[(B, 4)](
        q, k, v, part, lse, lengths, k.stride(0), k.stride(1), 1 / math.sqrt(D), SPLITS=4, D=D, BLOCK=32
    )
    combine_kernel[(B,)](part, lse, o, SPLITS=4, D=D)
    return o


@triton.jit
def gemv_kernel(a_ptr, x_ptr, y_ptr, M, K, ab, am, ak, BM: tl.constexpr, BK: tl.constexpr):
    b = tl.program_id(1)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        mask = (rm[:, None] < M) & (rk[None, :] < K)
        a = tl.load(a_ptr + b * ab + rm[:, None] * am + rk[None, :] * ak, mask=mask, other=0.0)
        x = tl.load(x_ptr + b * K + rk, mask=rk < K, other=0.0)
        acc += a.to(tl.float32) * x.to(tl.float32)[None, :]
    tl.store(y_ptr + b * M + rm, tl.sum(acc, 1).to(y_ptr.dtype.element_ty), mask=rm < M)


def gemv(a: Tensor, x: Tensor) -> Tensor:
    """a (B, M, K), any strides; x (B, K)."""
    B, M, K = a.shape
    y = torch.empty((B, M), dtype=a.dtype, device=a.device)
    gemv_kernel[(triton.cdiv(M, 16), B)](a, x, y, M, K, *a.stride(), BM=16, BK=64)
    return y


def decode_inputs(dtype: torch.dtype, seed: int) -> Inputs:
    q = randn(3, 32, dtype=dtype, seed=seed)
    kv = randn(2, 3, 200, 32, dtype=dtype, seed=seed + 1)
    return (q, kv[0], kv[1], torch.tensor([200, 77, 20], dtype=torch.int32)), {}


def gemv_inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(3, 130, 45, dtype=dtype, seed=seed).mT, randn(3, 130, dtype=dtype, seed=seed + 1)), {}


def decode_reference(m, q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    s = m.sum(m.up(q)[:, None, :] * m.up(k), -1) / math.sqrt(q.shape[-1])
    s = s.masked_fill(torch.arange(k.shape[1]) >= lengths[:, None], -math.inf)
    p = torch.exp(s - s.max(-1, keepdim=True).values)
    return m.narrow(m.sum(p[:, :, None] * m.up(v), 1) / m.sum(p, -1)[:, None])


def gemv_reference(m, a: Tensor, x: Tensor) -> Tensor:
    return m.narrow(m.sum(m.up(a) * m.up(x)[:, None, :], -1))


CASES = [
    Case("decode_split_kv_and_combine", decode, decode_inputs, decode_reference),
    Case("gemv_batched_transposed", gemv, gemv_inputs, gemv_reference),
]
