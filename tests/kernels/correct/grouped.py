"""Grouped matrix multiplication: addresses and sizes of many problems in arrays, pointers made from integers."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def grouped_kernel(
    a_ptrs, b_ptrs, c_ptrs, sizes_ptr, like_ptr, groups, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    done = 0
    pointer = like_ptr.dtype
    for g in range(groups):
        M = tl.load(sizes_ptr + g * 3)
        N = tl.load(sizes_ptr + g * 3 + 1)
        K = tl.load(sizes_ptr + g * 3 + 2)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * tiles_n
        while tile >= done and tile < done + tiles:
            a = tl.load(a_ptrs + g).to(pointer)
            b = tl.load(b_ptrs + g).to(pointer)
            c = tl.load(c_ptrs + g).to(pointer)
            rm = (tile - done) // tiles_n * BM + tl.arange(0, BM)
            rn = (tile - done) % tiles_n * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                rk = k + tl.arange(0, BK)
                x = tl.load(
                    a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0
                )
                y = tl.load(
                    b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0
                )
                acc += tl.dot(x, y)
            mask = (rm[:, None] < M) & (rn[None, :] < N)
            tl.store(c + rm[:, None] * N + rn[None, :], acc.to(like_ptr.dtype.element_ty), mask=mask)
            tile += PROGRAMS
        done += tiles


def grouped_matmul(a: list[Tensor], b: list[Tensor]) -> tuple[Tensor, ...]:
    device = a[0].device
    c = [torch.empty(x.shape[0], y.shape[1], dtype=x.dtype, device=device) for x, y in zip(a, b, strict=True)]
    sizes = [[x.shape[0], y.shape[1], x.shape[1]] for x, y in zip(a, b, strict=True)]

    def addresses(tensors: list[Tensor]) -> Tensor:
        return torch.tensor([t.data_ptr() for t in tensors], dtype=torch.int64, device=device)

    sizes_at = torch.tensor(sizes, dtype=torch.int32, device=device)
    grouped_kernel[(2,)](
        addresses(a), addresses(b), addresses(c), sizes_at, a[0], len(a), PROGRAMS=2, BM=32, BN=32, BK=32
    )
    return tuple(c)


def problems(dtype: torch.dtype, seed: int) -> Inputs:
    sizes = [(40, 20, 50), (16, 70, 30), (33, 33, 33)]
    a = [randn(m, k, dtype=dtype, seed=seed + i) for i, (m, _, k) in enumerate(sizes)]
    b = [randn(k, n, dtype=dtype, seed=seed + 10 + i) for i, (_, n, k) in enumerate(sizes)]
    return (a, b), {}


def reference(m, a: list[Tensor], b: list[Tensor]) -> tuple[Tensor, ...]:
    return tuple(m.narrow(m.dot(m.up(x), m.up(y))) for x, y in zip(a, b, strict=True))


CASES = [Case("matmul_grouped_by_address", grouped_matmul, problems, reference)]
