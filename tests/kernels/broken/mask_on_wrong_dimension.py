"""Rows are compared with the number of columns and columns with the number of rows."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def copy_kernel(src_ptr, dst_ptr, M, N, src_m, src_n, dst_m, dst_n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    load_mask = (rows[:, None] < N) & (columns[None, :] < M)
    store_mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(src_ptr + rows[:, None] * src_m + columns[None, :] * src_n, mask=load_mask)  # fault
    tl.store(dst_ptr + rows[:, None] * dst_m + columns[None, :] * dst_n, tile, mask=store_mask)


def copy(src: Tensor) -> Tensor:
    M, N = src.shape
    dst = torch.empty((M, N), dtype=src.dtype, device=src.device)
    copy_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        src, dst, M, N, *src.stride(), *dst.stride(), BM=32, BN=32
    )
    return dst


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(50, 70, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="mask_on_wrong_dimension",
    function=copy,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"row 50 of 50.*\bsrc\b",
)
