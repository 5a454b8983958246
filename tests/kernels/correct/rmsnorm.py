"""RMS normalisation of x + residual over the last of three dimensions, with the sum written as a second output."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn

EPS = 1e-6


@triton.jit
def rmsnorm_kernel(
    x_ptr,
    residual_ptr,
    w_ptr,
    y_ptr,
    sum_ptr,
    B,
    T,
    D,
    xb,
    xt,
    eps,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    b = tl.program_id(1).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    mask = (t[:, None] < T) & (d[None, :] < D)
    dense = (b * T + t[:, None]) * D + d[None, :]
    x = tl.load(x_ptr + b * xb + t[:, None] * xt + d[None, :], mask=mask, other=0.0).to(tl.float32)
    total = x + tl.load(residual_ptr + dense, mask=mask, other=0.0).to(tl.float32)
    tl.store(sum_ptr + dense, total, mask=mask)
    rms = tl.sqrt(tl.sum(total * total, axis=1) / D + eps)
    w = tl.load(w_ptr + d, mask=d < D, other=0.0).to(tl.float32)
    tl.store(y_ptr + dense, total / rms[:, None] * w[None, :], mask=mask)


def rmsnorm(x: Tensor, residual: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    B, T, D = x.shape
    y, total = torch.empty_like(residual), torch.empty_like(residual)
    grid = (triton.cdiv(T, 4), B)
    rmsnorm_kernel[grid](
        x,
        residual,
        w,
        y,
        total,
        B,
        T,
        D,
        x.stride(0),
        x.stride(1),
        EPS,
        BLOCK_T=4,
        BLOCK_D=triton.next_power_of_2(D),
    )
    return y, total


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    x = randn(13, 2, 96, dtype=dtype, seed=seed).transpose(0, 1)
    return (x, randn(2, 13, 96, dtype=dtype, seed=seed + 1), randn(96, dtype=dtype, seed=seed + 2)), {}


def reference(m, x: Tensor, residual: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    total = m.up(x) + m.up(residual)
    rms = torch.sqrt(m.sum(total * total, -1) / x.shape[-1] + EPS)
    return m.narrow(total / rms[..., None] * m.up(w)), m.narrow(total)


CASES = [Case("rmsnorm_with_residual", rmsnorm, inputs, reference)]
