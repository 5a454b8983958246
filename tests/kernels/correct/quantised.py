"""Eight-bit integers: absolute maxima by atomic_max, then a matrix multiplication of int8 with scales."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def amax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.atomic_max(out_ptr, tl.max(tl.abs(x), axis=0))


def amax(x: Tensor) -> Tensor:
    out = torch.zeros(1, dtype=torch.float32, device=x.device)
    amax_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


@triton.jit
def int8_kernel(
    a_ptr,
    b_ptr,
    a_scale_ptr,
    b_scale_ptr,
    c_ptr,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0
        )
        b = tl.load(
            b_ptr + rk[:, None] + rn[None, :] * K, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0
        )
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    a_scale = tl.load(a_scale_ptr + rm, mask=rm < M, other=0.0).to(tl.float32)
    b_scale = tl.load(b_scale_ptr + rn, mask=rn < N, other=0.0).to(tl.float32)
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], c.to(c_ptr.dtype.element_ty), mask=mask)


def int8_matmul(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    """a (M, K) and b (N, K) in int8, a scale for each row of both."""
    (M, K), N = a.shape, b.shape[0]
    c = torch.empty((M, N), dtype=a_scale.dtype, device=a.device)
    int8_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, b, a_scale, b_scale, c, M, N, K, BM=32, BN=32, BK=32
    )
    return c


def vector(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(500, dtype=dtype, seed=seed),), {}


def integers(dtype: torch.dtype, seed: int) -> Inputs:
    generator = torch.Generator().manual_seed(seed)
    a = torch.randint(-128, 128, (40, 70), dtype=torch.int8, generator=generator)
    b = torch.randint(-128, 128, (50, 70), dtype=torch.int8, generator=generator)
    scales = (randn(n, dtype=torch.float32, seed=seed + n).abs().div(128).to(dtype) for n in (40, 50))
    return (a, b, *scales), {}


def int8_reference(m, a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    product = m.up((a.to(torch.int64) @ b.to(torch.int64).t()).to(torch.float64))
    return m.narrow(product * m.up(a_scale)[:, None] * m.up(b_scale)[None, :])


CASES = [
    Case("amax_atomic_max", amax, vector, lambda m, x: m.up(x).abs().max()[None]),
    Case("matmul_int8_with_scales", int8_matmul, integers, int8_reference),
]
