"""Vector addition with a ragged tail, on contiguous vectors and on every second element."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, x_stride, y_stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets * x_stride, mask=mask)
    y = tl.load(y_ptr + offsets * y_stride, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.numel()
    add_kernel[(triton.cdiv(n, 256),)](x, y, out, n, x.stride(0), y.stride(0), BLOCK=256)
    return out


@triton.jit
def add_shifted_tail_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # The last block starts early and overlaps its neighbour: both write the same values there.
    start = tl.minimum(tl.program_id(0) * BLOCK, n - BLOCK)
    offsets = start + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


def add_shifted_tail(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty_like(x)
    add_shifted_tail_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
    return out


def reference(m, x: Tensor, y: Tensor) -> Tensor:
    return m.narrow(m.up(x) + m.up(y))


def ragged(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed), randn(1000, dtype=dtype, seed=seed + 1)), {}


def strided(dtype: torch.dtype, seed: int) -> Inputs:
    x = randn(2001, dtype=dtype, seed=seed)
    return (x[1::2], x[0:2000:2]), {}


CASES = [
    Case("vector_add", add, ragged, reference),
    Case("vector_add_strided_views", add, strided, reference),
    Case("vector_add_shifted_tail", add_shifted_tail, ragged, reference),
]
