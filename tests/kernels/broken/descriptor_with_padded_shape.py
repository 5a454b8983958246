"""The descriptor is told the padded number of rows, so it reads past the last."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.cdiv(M, BM) * BM
    src = tl.make_tensor_descriptor(x_ptr, shape=[rows, N], strides=[N, 1], block_shape=[BM, BN])
    dst = tl.make_tensor_descriptor(out_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    tile = src.load([m, 0])  # fault
    dst.store([m, 0], tile)


def copy(x: Tensor) -> Tensor:
    M, N = x.shape
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device=x.device, dtype=torch.int8))
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(M, 16),)](x, out, M, N, BM=16, BN=N)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(40, 64, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="descriptor_with_padded_shape",
    function=copy,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"row 40 of 40.*\bx\b.*descriptor",
)
