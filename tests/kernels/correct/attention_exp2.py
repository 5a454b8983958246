"""FlashAttention forward by pointer arithmetic: exp2, grouped heads by strides, q, k and v views of one tensor."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn
from tests.kernels.oracle import attention


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot,
    H, T, scale_log2, GROUP: tl.constexpr, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(1) // H
    h = tl.program_id(1) % H
    rq = tl.program_id(0) * BQ + tl.arange(0, BQ)
    rk = tl.arange(0, BK)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * qb + h * qh + rq[:, None] * qt + d[None, :], mask=rq[:, None] < T, other=0.0)
    k_ptrs = k_ptr + b * kb + (h // GROUP) * kh + rk[None, :] * kt + d[:, None]
    v_ptrs = v_ptr + b * vb + (h // GROUP) * vh + rk[:, None] * vt + d[None, :]
    m = tl.full((BQ,), -float("inf"), dtype=tl.float32)
    denominator = tl.zeros((BQ,), dtype=tl.float32)
    acc = tl.zeros((BQ, D), dtype=tl.float32)
    end = min((tl.program_id(0) + 1) * BQ, T) if CAUSAL else T
    for start in range(0, end, BK):
        inside = start + rk < T
        k = tl.load(k_ptrs + start * kt, mask=inside[None, :], other=0.0)
        v = tl.load(v_ptrs + start * vt, mask=inside[:, None], other=0.0)
        s = tl.dot(q, k) * scale_log2
        keep = inside[None, :]
        if CAUSAL:
            keep = keep & (rq[:, None] >= start + rk[None, :])
        s = tl.where(keep, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - m_new[:, None])
        alpha = tl.math.exp2(m - m_new)
        denominator = denominator * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = m_new
    o_ptrs = o_ptr + b * ob + h * oh + rq[:, None] * ot + d[None, :]
    tl.store(o_ptrs, (acc / denominator[:, None]).to(o_ptr.dtype.element_ty), mask=rq[:, None] < T)
    lse = (m + tl.math.log2(denominator)) * 0.6931471805599453
    tl.store(lse_ptr + tl.program_id(1) * T + rq, lse, mask=rq < T)


def flash(q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> tuple[Tensor, Tensor]:
    """q (B, H, T, D); k and v (B, H_kv, T, D); any strides with the last dimension dense."""
    B, H, T, D = q.shape
    o = torch.empty((B, T, H, D), dtype=q.dtype, device=q.device).transpose(1, 2)
    lse = torch.empty((B, H, T), dtype=torch.float32, device=q.device)
    attention_kernel[(triton.cdiv(T, 32), B * H)](
        q, k, v, o, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3], H, T,
        math.log2(math.e) / math.sqrt(D), GROUP=H // k.shape[1], D=D, BQ=32, BK=32, CAUSAL=causal,
    )  # fmt: skip
    return o, lse


def interleaved(dtype: torch.dtype, seed: int) -> Inputs:
    qkv = randn(1, 75, 2, 3, 32, dtype=dtype, seed=seed)
    return tuple(t.transpose(1, 2) for t in qkv.unbind(3)), {}


def grouped_heads(dtype: torch.dtype, seed: int) -> Inputs:
    q = randn(1, 4, 50, 16, dtype=dtype, seed=seed)
    kv = randn(1, 50, 2, 2, 16, dtype=dtype, seed=seed + 1)
    return (3 * q, kv[:, :, 0].transpose(1, 2), kv[:, :, 1].transpose(1, 2)), {"causal": False}


def reference(m, q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> tuple[Tensor, Tensor]:
    group = q.shape[1] // k.shape[1]
    return attention(m, q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1), causal)


CASES = [
    Case("attention_exp2_causal_interleaved_qkv", flash, interleaved, reference),
    Case("attention_exp2_grouped_heads", flash, grouped_heads, reference),
]
