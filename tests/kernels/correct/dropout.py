"""Dropout by tl.rand: the same seed gives the same mask, here worked out again with Philox in plain integers."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn

MASK32 = 0xFFFFFFFF


@triton.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    keep = tl.rand(seed, offsets) > p
    tl.store(y_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=offsets < n)


def dropout(x: Tensor, p: float, seed: int) -> Tensor:
    y = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), p, seed, BLOCK=128)
    return y


def philox_uniform(seed: int, counter: int) -> float:
    """The first of the four words of Philox4x32-10 (Salmon et al. 2011), mapped to [0, 1) as tl.rand does."""
    c0, c1, c2, c3 = counter, 0, 0, 0
    k0, k1 = seed & MASK32, seed >> 32
    for _ in range(10):
        low0, low1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (low1 >> 32) ^ c1 ^ k0, low1 & MASK32, (low0 >> 32) ^ c3 ^ k1, low0 & MASK32
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    signed = c0 - (1 << 32) if c0 >> 31 else c0
    return (-signed - 1 if signed < 0 else signed) * 4.6566127342e-10


def reference(m, x: Tensor, p: float, seed: int) -> Tensor:
    keep = torch.tensor([philox_uniform(seed, i) > p for i in range(x.numel())])
    return m.narrow(torch.where(keep, m.up(x) / (1 - p), 0.0))


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(500, dtype=dtype, seed=seed), 0.3, 1234), {}


CASES = [Case("dropout_philox", dropout, inputs, reference)]
