"""Kernels made of nested jit functions: SwiGLU over a fused weight, GELU by tanh of libdevice and of exp."""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.language.extra import libdevice

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def load_tile(ptr, rows, columns, M, N, stride):
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    return tl.load(ptr + rows[:, None] * stride + columns[None, :], mask=mask, other=0.0)


@triton.jit
def swiglu_kernel(x_ptr, w_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    gate = tl.zeros((BM, BN), dtype=tl.float32)
    up = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = load_tile(x_ptr, rm, rk, M, K, K)
        gate = tl.dot(x, load_tile(w_ptr, rk, rn, K, N, 2 * N), gate)
        up = tl.dot(x, load_tile(w_ptr + N, rk, rn, K, N, 2 * N), up)
    y = (silu(gate) * up).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], y, mask=(rm[:, None] < M) & (rn[None, :] < N))


def swiglu(x: Tensor, w: Tensor) -> Tensor:
    """x (M, K), w (K, 2 N): gate beside up."""
    (M, K), N = x.shape, w.shape[1] // 2
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    swiglu_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, w, y, M, N, K, BM=32, BN=32, BK=32)
    return y


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def gelu_kernel(x_ptr, y_ptr, n, LIBDEVICE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    t = libdevice.tanh(inner) if LIBDEVICE else tanh(inner)
    tl.store(y_ptr + offsets, 0.5 * x * (1 + t), mask=offsets < n)


def gelu(x: Tensor, use_libdevice: bool) -> Tensor:
    y = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), LIBDEVICE=use_libdevice, BLOCK=256)
    return y


def weights(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(50, 40, dtype=dtype, seed=seed), 0.2 * randn(40, 90, dtype=dtype, seed=seed + 1)), {}


def by_exp(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(20, 50, dtype=dtype, seed=seed), False), {}


def by_libdevice(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(20, 50, dtype=dtype, seed=seed), True), {}


def swiglu_reference(m, x: Tensor, w: Tensor) -> Tensor:
    gate, up = m.dot(m.up(x), m.up(w)).chunk(2, -1)
    return m.narrow(gate * torch.sigmoid(gate) * up)


def gelu_reference(m, x: Tensor, use_libdevice: bool) -> Tensor:
    wide = m.up(x)
    return m.narrow(0.5 * wide * (1 + torch.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))))


CASES = [
    Case("swiglu_nested_jit", swiglu, weights, swiglu_reference),
    Case("gelu_nested_jit", gelu, by_exp, gelu_reference),
    Case("gelu_libdevice", gelu, by_libdevice, gelu_reference),
]
