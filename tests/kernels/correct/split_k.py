"""Split-K matrix multiplication: partial sums by atomics, and by a counter that makes the last program reduce."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def partial_dot(a_ptr, b_ptr, M, N, K, rm, rn, k0, k1, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(k0, k1, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < k1), other=0.0
        )
        b = tl.load(
            b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < k1) & (rn[None, :] < N), other=0.0
        )
        acc += tl.dot(a, b)
    return acc


@triton.jit
def split_k_atomic_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, K_PER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    k0 = tl.program_id(2) * K_PER
    acc = partial_dot(a_ptr, b_ptr, M, N, K, rm, rn, k0, min(k0 + K_PER, K), BM, BN, BK)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask)


def split_k_atomic(a: Tensor, b: Tensor) -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), triton.cdiv(K, 64))
    split_k_atomic_kernel[grid](a, b, c, M, N, K, K_PER=64, BM=32, BN=32, BK=32)
    return c.to(a.dtype)


@triton.jit
def split_k_counter_kernel(
    a_ptr, b_ptr, partial_ptr, counter_ptr, c_ptr, M, N, K,
    SPLITS: tl.constexpr, K_PER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    k0 = split * K_PER
    acc = partial_dot(a_ptr, b_ptr, M, N, K, rm, rn, k0, min(k0 + K_PER, K), BM, BN, BK)
    offsets = rm[:, None] * N + rn[None, :]
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(partial_ptr + split * M * N + offsets, acc, mask=mask)
    # The stores above must be seen by whichever program comes last.
    tl.debug_barrier()
    arrived = tl.atomic_add(counter_ptr + tile, 1)
    if arrived == SPLITS - 1:
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for s in range(SPLITS):
            total += tl.load(partial_ptr + s * M * N + offsets, mask=mask, other=0.0)
        tl.store(c_ptr + offsets, total.to(c_ptr.dtype.element_ty), mask=mask)


def split_k_counter(a: Tensor, b: Tensor) -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    splits = triton.cdiv(K, 64)
    tiles_m, tiles_n = triton.cdiv(M, 32), triton.cdiv(N, 32)
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    partial = torch.empty((splits, M, N), dtype=torch.float32, device=a.device)
    counter = torch.zeros(tiles_m * tiles_n, dtype=torch.int32, device=a.device)
    split_k_counter_kernel[(tiles_m, tiles_n, splits)](
        a, b, partial, counter, c, M, N, K, SPLITS=splits, K_PER=64, BM=32, BN=32, BK=32
    )
    return c


def deep(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(40, 200, dtype=dtype, seed=seed), randn(200, 50, dtype=dtype, seed=seed + 1)), {}


def reference(m, a: Tensor, b: Tensor) -> Tensor:
    return m.narrow(m.dot(m.up(a), m.up(b)))


CASES = [
    Case("split_k_atomics", split_k_atomic, deep, reference),
    Case("split_k_counter", split_k_counter, deep, reference),
]
