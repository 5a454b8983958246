"""A block pointer's load has no boundary_check on the ragged rows."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM
    src = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (m, 0), (BM, BN), (1, 0))
    dst = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (m, 0), (BM, BN), (1, 0))
    tile = tl.load(src, boundary_check=(1,))  # fault
    tl.store(dst, tile, boundary_check=(0, 1))


def copy(x: Tensor) -> Tensor:
    M, N = x.shape
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(M, 16),)](x, out, M, N, BM=16, BN=triton.next_power_of_2(N))
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(40, 50, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="block_pointer_not_checked",
    function=copy,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"row 40 of 40.*\bx\b.*boundary_check=\(0,\)",
)
