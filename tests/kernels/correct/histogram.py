"""Atomics on integers: a histogram by one atomic per value, and by tl.histogram per block."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def bin_of(x, BINS: tl.constexpr):
    scaled = (x.to(tl.float32) + 4) * (BINS / 8)
    return tl.minimum(tl.maximum(scaled, 0.0), BINS - 1.0).to(tl.int32)


@triton.jit
def atomic_kernel(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.atomic_add(counts_ptr + bin_of(x, BINS), 1, mask=mask)


def atomic_histogram(x: Tensor) -> Tensor:
    counts = torch.zeros(16, dtype=torch.int32, device=x.device)
    atomic_kernel[(triton.cdiv(x.numel(), 256),)](x, counts, x.numel(), BINS=16, BLOCK=256)
    return counts


@triton.jit
def block_kernel(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    bins = tl.where(offsets < n, bin_of(x, BINS), BINS)
    # Lanes past the end go to a bin of their own, which is dropped.
    counts = tl.histogram(bins, 2 * BINS)
    b = tl.arange(0, 2 * BINS)
    tl.atomic_add(counts_ptr + b, counts, mask=b < BINS)


def block_histogram(x: Tensor) -> Tensor:
    counts = torch.zeros(16, dtype=torch.int32, device=x.device)
    block_kernel[(triton.cdiv(x.numel(), 256),)](x, counts, x.numel(), BINS=16, BLOCK=256)
    return counts


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (2 * randn(900, dtype=dtype, seed=seed),), {}


def reference(m, x: Tensor) -> Tensor:
    bins = ((m.up(x) + 4) * 2).clamp(0, 15).to(torch.int64)
    return torch.bincount(bins, minlength=16)


CASES = [
    Case("histogram_atomics", atomic_histogram, inputs, reference),
    Case("histogram_per_block", block_histogram, inputs, reference),
]
