"""Persistent matrix multiplication: few programs, each walking over many tiles."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def persistent_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr
):
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS):
        rm = (tile // tiles_n) * BM + tl.arange(0, BM)
        rn = (tile % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            a_mask = (rm[:, None] < M) & (rk[None, :] < K)
            b_mask = (rk[:, None] < K) & (rn[None, :] < N)
            a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=a_mask, other=0.0)
            b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=b_mask, other=0.0)
            acc = tl.dot(a, b, acc)
        mask = (rm[:, None] < M) & (rn[None, :] < N)
        tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=mask)


def persistent_matmul(a: Tensor, b: Tensor) -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    persistent_kernel[(3,)](a, b, c, M, N, K, BM=32, BN=32, BK=32, PROGRAMS=3)
    return c


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(100, 60, dtype=dtype, seed=seed), randn(60, 85, dtype=dtype, seed=seed + 1)), {}


def reference(m, a: Tensor, b: Tensor) -> Tensor:
    return m.narrow(m.dot(m.up(a), m.up(b)))


CASES = [Case("matmul_persistent", persistent_matmul, inputs, reference)]
