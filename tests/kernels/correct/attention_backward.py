"""FlashAttention backward in three kernels: delta, then dk and dv by key tile, then dq by query tile."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def delta_kernel(o_ptr, do_ptr, delta_ptr, rows, D: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = r[:, None] * D + tl.arange(0, D)[None, :]
    o = tl.load(o_ptr + offsets, mask=r[:, None] < rows, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + offsets, mask=r[:, None] < rows, other=0.0).to(tl.float32)
    tl.store(delta_ptr + r, tl.sum(o * do, axis=1), mask=r < rows)


@triton.jit
def dkdv_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, T, scale,
    D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    base = tl.program_id(1) * T
    d = tl.arange(0, D)
    rk = tl.program_id(0) * BK + tl.arange(0, BK)
    k_offsets = (base + rk[:, None]) * D + d[None, :]
    k = tl.load(k_ptr + k_offsets, mask=rk[:, None] < T, other=0.0)
    v = tl.load(v_ptr + k_offsets, mask=rk[:, None] < T, other=0.0)
    dk = tl.zeros((BK, D), dtype=tl.float32)
    dv = tl.zeros((BK, D), dtype=tl.float32)
    for start in range(0, T, BQ):
        rq = start + tl.arange(0, BQ)
        inside = rq < T
        q_offsets = (base + rq[:, None]) * D + d[None, :]
        q = tl.load(q_ptr + q_offsets, mask=inside[:, None], other=0.0)
        do = tl.load(do_ptr + q_offsets, mask=inside[:, None], other=0.0)
        lse = tl.load(lse_ptr + base + rq, mask=inside, other=float("inf"))
        delta = tl.load(delta_ptr + base + rq, mask=inside, other=0.0)
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        dv += tl.dot(tl.trans(p).to(do.dtype), do)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None]) * scale
        dk += tl.dot(tl.trans(ds).to(q.dtype), q)
    tl.store(dk_ptr + k_offsets, dk.to(dk_ptr.dtype.element_ty), mask=rk[:, None] < T)
    tl.store(dv_ptr + k_offsets, dv.to(dv_ptr.dtype.element_ty), mask=rk[:, None] < T)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, T, scale,
    D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    base = tl.program_id(1) * T
    d = tl.arange(0, D)
    rq = tl.program_id(0) * BQ + tl.arange(0, BQ)
    q_offsets = (base + rq[:, None]) * D + d[None, :]
    q = tl.load(q_ptr + q_offsets, mask=rq[:, None] < T, other=0.0)
    do = tl.load(do_ptr + q_offsets, mask=rq[:, None] < T, other=0.0)
    lse = tl.load(lse_ptr + base + rq, mask=rq < T, other=0.0)
    delta = tl.load(delta_ptr + base + rq, mask=rq < T, other=0.0)
    dq = tl.zeros((BQ, D), dtype=tl.float32)
    for start in range(0, T, BK):
        rk = start + tl.arange(0, BK)
        k_offsets = (base + rk[:, None]) * D + d[None, :]
        k = tl.load(k_ptr + k_offsets, mask=rk[:, None] < T, other=0.0)
        v = tl.load(v_ptr + k_offsets, mask=rk[:, None] < T, other=0.0)
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        p = tl.where(rk[None, :] < T, p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None]) * scale
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(dq_ptr + q_offsets, dq.to(dq_ptr.dtype.element_ty), mask=rq[:, None] < T)


def flash_backward(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """(H, T, D) each but lse (H, T); all contiguous."""
    H, T, D = q.shape
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    delta = torch.empty_like(lse)
    scale = 1 / math.sqrt(D)
    delta_kernel[(triton.cdiv(H * T, 64),)](o, do, delta, H * T, D=D, BLOCK=64)
    grid = (triton.cdiv(T, 32), H)
    dkdv_kernel[grid](q, k, v, do, lse, delta, dk, dv, T, scale, D=D, BQ=32, BK=32)
    dq_kernel[grid](q, k, v, do, lse, delta, dq, T, scale, D=D, BQ=32, BK=32)
    return dq, dk, dv


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    q, k, v, do = (randn(2, 50, 32, dtype=dtype, seed=seed + i) for i in range(4))
    s = q.double() @ k.double().transpose(-1, -2) / math.sqrt(32)
    o = (torch.softmax(s, -1) @ v.double()).to(dtype)
    return (q, k, v, o, do, torch.logsumexp(s, -1).float()), {}


def reference(m, q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor) -> tuple[Tensor, ...]:
    scale = 1 / math.sqrt(q.shape[-1])
    wq, wk, wv, wo, wdo, wide_lse = (m.up(t) for t in (q, k, v, o, do, lse))
    delta = m.sum(wo * wdo, -1)[..., None]
    p = torch.exp(m.dot(wq, wk.transpose(-1, -2)) * scale - wide_lse[..., None])
    ds = p * (m.dot(wdo, wv.transpose(-1, -2)) - delta) * scale
    dq = m.dot(ds, wk)
    dk = m.dot(ds.transpose(-1, -2), wq)
    dv = m.dot(p.transpose(-1, -2), wdo)
    return m.narrow(dq), m.narrow(dk), m.narrow(dv)


CASES = [Case("attention_backward", flash_backward, inputs, reference)]
