"""Copies between layouts: a transpose by strides, and one by block pointers."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def copy_kernel(src_ptr, dst_ptr, M, N, src_m, src_n, dst_m, dst_n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(src_ptr + rows[:, None] * src_m + columns[None, :] * src_n, mask=mask)
    tl.store(dst_ptr + rows[:, None] * dst_m + columns[None, :] * dst_n, tile, mask=mask)


def copy(src: Tensor) -> Tensor:
    M, N = src.shape
    dst = torch.empty((M, N), dtype=src.dtype, device=src.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    copy_kernel[grid](src, dst, M, N, *src.stride(), *dst.stride(), BM=32, BN=64)
    return dst


@triton.jit
def transpose_kernel(src_ptr, dst_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    src = tl.make_block_ptr(src_ptr, (M, N), (N, 1), (m, n), (BM, BN), (1, 0))
    dst = tl.make_block_ptr(dst_ptr, (N, M), (M, 1), (n, m), (BN, BM), (1, 0))
    tile = tl.load(src, boundary_check=(0, 1))
    tl.store(dst, tl.trans(tile), boundary_check=(0, 1))


def transpose(src: Tensor) -> Tensor:
    M, N = src.shape
    dst = torch.empty((N, M), dtype=src.dtype, device=src.device)
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](src, dst, M, N, BM=32, BN=32)
    return dst


def transposed_view(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(130, 70, dtype=dtype, seed=seed).t(),), {}


def row_broadcast(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1, 97, dtype=dtype, seed=seed).expand(50, 97),), {}


def plain(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(75, 45, dtype=dtype, seed=seed),), {}


CASES = [
    Case("copy_of_a_transposed_view", copy, transposed_view, lambda m, src: m.up(src)),
    Case("copy_of_an_expanded_row", copy, row_broadcast, lambda m, src: m.up(src)),
    Case("transpose_block_pointers", transpose, plain, lambda m, src: m.up(src).t()),
]
