"""Neighbours: a causal depthwise convolution with masked negative indices, and rotary position embedding."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def conv_kernel(x_ptr, w_ptr, y_ptr, T, C, TAPS: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    acc = tl.zeros((BT, BC), dtype=tl.float32)
    for tap in tl.static_range(TAPS):
        source = t - (TAPS - 1) + tap
        mask = (source[:, None] >= 0) & (source[:, None] < T) & (c[None, :] < C)
        x = tl.load(x_ptr + source[:, None] * C + c[None, :], mask=mask, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + tap * C + c, mask=c < C, other=0.0).to(tl.float32)
        acc += x * w[None, :]
    mask = (t[:, None] < T) & (c[None, :] < C)
    tl.store(y_ptr + t[:, None] * C + c[None, :], acc.to(y_ptr.dtype.element_ty), mask=mask)


def causal_conv(x: Tensor, w: Tensor) -> Tensor:
    """x (T, C), w (taps, C)."""
    T, C = x.shape
    y = torch.empty_like(x)
    conv_kernel[(triton.cdiv(T, 32), triton.cdiv(C, 16))](x, w, y, T, C, TAPS=w.shape[0], BT=32, BC=16)
    return y


@triton.jit
def rope_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, T, xh, xt, HALF: tl.constexpr, BT: tl.constexpr):
    h = tl.program_id(1)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, HALF)
    mask = t[:, None] < T
    x_ptrs = x_ptr + h * xh + t[:, None] * xt + d[None, :]
    y_ptrs = y_ptr + (h * T + t[:, None]) * 2 * HALF + d[None, :]
    cos = tl.load(cos_ptr + t[:, None] * HALF + d[None, :], mask=mask)
    sin = tl.load(sin_ptr + t[:, None] * HALF + d[None, :], mask=mask)
    x1 = tl.load(x_ptrs, mask=mask).to(tl.float32)
    x2 = tl.load(x_ptrs + HALF, mask=mask).to(tl.float32)
    tl.store(y_ptrs, x1 * cos - x2 * sin, mask=mask)
    tl.store(y_ptrs + HALF, x2 * cos + x1 * sin, mask=mask)


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x (H, T, D), any strides with D dense; cos and sin (T, D / 2) in float32."""
    H, T, D = x.shape
    y = torch.empty((H, T, D), dtype=x.dtype, device=x.device)
    rope_kernel[(triton.cdiv(T, 16), H)](x, cos, sin, y, T, x.stride(0), x.stride(1), HALF=D // 2, BT=16)
    return y


def signal(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(75, 20, dtype=dtype, seed=seed), randn(4, 20, dtype=dtype, seed=seed + 1)), {}


def heads(dtype: torch.dtype, seed: int) -> Inputs:
    angle = torch.arange(21.0)[:, None] * 10000 ** (-torch.arange(16.0) / 16)
    return (randn(21, 2, 32, dtype=dtype, seed=seed).transpose(0, 1), angle.cos(), angle.sin()), {}


def conv_reference(m, x: Tensor, w: Tensor) -> Tensor:
    taps = w.shape[0]
    padded = torch.cat([torch.zeros_like(x[: taps - 1]), x])
    shifted = torch.stack([m.up(padded[tap : tap + x.shape[0]]) * m.up(w[tap]) for tap in range(taps)])
    return m.narrow(m.sum(shifted, 0))


def rope_reference(m, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    x1, x2 = m.up(x).chunk(2, -1)
    c, s = m.up(cos), m.up(sin)
    return m.narrow(torch.cat([x1 * c - x2 * s, x2 * c + x1 * s], -1))


CASES = [
    Case("causal_convolution", causal_conv, signal, conv_reference),
    Case("rotary_embedding", rope, heads, rope_reference),
]
