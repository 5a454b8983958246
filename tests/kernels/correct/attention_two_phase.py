"""FlashAttention forward with descriptors and two phases: tiles left of the diagonal unmasked, then the diagonal."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn
from tests.kernels.oracle import attention


@triton.jit
def inner(
    acc, denominator, m, q, k_desc, v_desc, first_row, lo, hi, scale, rq, T,
    BK: tl.constexpr, DIAGONAL: tl.constexpr,
):  # fmt: skip
    for start in tl.range(lo, hi, BK):
        k = k_desc.load([first_row + start, 0])
        s = tl.dot(q, k.T) * scale
        if DIAGONAL:
            rk = start + tl.arange(0, BK)
            s = tl.where(rq[:, None] >= rk[None, :], s, -1.0e6)
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - m_new[:, None])
        alpha = tl.math.exp2(m - m_new)
        v = v_desc.load([first_row + start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        denominator = denominator * alpha + tl.sum(p, 1)
        m = m_new
    return acc, denominator, m


@triton.jit
def two_phase_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, rows, T, scale, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr
):
    q_desc = tl.make_tensor_descriptor(q_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BQ, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BK, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BK, D])
    o_desc = tl.make_tensor_descriptor(o_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BQ, D])
    first_row = tl.program_id(1) * T
    q_start = tl.program_id(0) * BQ
    rq = q_start + tl.arange(0, BQ)
    q = q_desc.load([first_row + q_start, 0])
    m = tl.full((BQ,), -float("inf"), dtype=tl.float32)
    denominator = tl.zeros((BQ,), dtype=tl.float32)
    acc = tl.zeros((BQ, D), dtype=tl.float32)
    acc, denominator, m = inner(
        acc, denominator, m, q, k_desc, v_desc, first_row, 0, q_start, scale, rq, T, BK, False
    )
    acc, denominator, m = inner(
        acc, denominator, m, q, k_desc, v_desc, first_row, q_start, q_start + BQ, scale, rq, T, BK, True
    )
    o_desc.store([first_row + q_start, 0], (acc / denominator[:, None]).to(o_ptr.dtype.element_ty))
    tl.store(lse_ptr + first_row + rq, (m + tl.math.log2(denominator)) / 1.4426950408889634)


def flash(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """(H, T, D) each, contiguous, T a multiple of 64; causal."""

    def allocate(size: int, alignment: int, stream: int | None) -> Tensor:
        return torch.empty(size, device=q.device, dtype=torch.int8)

    triton.set_allocator(allocate)
    H, T, D = q.shape
    o = torch.empty_like(q)
    lse = torch.empty((H, T), dtype=torch.float32, device=q.device)
    two_phase_kernel[(T // 64, H)](
        q, k, v, o, lse, H * T, T, math.log2(math.e) / math.sqrt(D), D=D, BQ=64, BK=32
    )
    return o, lse


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    q, k, v = (randn(2, 128, 32, dtype=dtype, seed=seed + i) for i in range(3))
    return (2 * q, k, v), {}


def reference(m, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return attention(m, q, k, v, True)


CASES = [Case("attention_two_phase_causal_descriptors", flash, inputs, reference)]
