"""A descriptor over k's share of a joint output is told the width of the whole row."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, out_m, BM: tl.constexpr, BN: tl.constexpr):
    src = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    dst = tl.make_tensor_descriptor(out_ptr, shape=[M, out_m], strides=[out_m, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    dst.store([m, 0], src.load([m, 0]))  # fault


def joint(k: Tensor, v: Tensor) -> Tensor:
    """k and v (M, 24) side by side"""
    M, N = k.shape
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device=k.device, dtype=torch.int8))
    out = torch.empty((M, 2 * N), dtype=k.dtype, device=k.device)
    for x, view in ((v, out[:, N:]), (k, out[:, :N])):
        copy_kernel[(triton.cdiv(M, 16),)](x, view, M, N, view.stride(0), BM=16, BN=32)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(32, 24, dtype=dtype, seed=seed), randn(32, 24, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="descriptor_store_into_neighbour",
    function=joint,
    make_inputs=inputs,
    kind="out_of_bounds_store",
    message=r"column 24 of 24.*descriptor covers more",
)
