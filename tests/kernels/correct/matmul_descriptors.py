"""Matrix multiplication with tensor descriptors, made in the kernel and made on the host."""

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.kernels.corpus import Case, Inputs, randn


@triton.jit
def device_descriptor_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, acc)
    c_desc.store([m, n], acc.to(c_ptr.dtype.element_ty))


def matmul_device_descriptors(a: Tensor, b: Tensor) -> Tensor:
    """a (M, K) @ b (N, K).T"""

    def allocate(size: int, alignment: int, stream: int | None) -> Tensor:
        return torch.empty(size, device=a.device, dtype=torch.int8)

    triton.set_allocator(allocate)
    (M, K), N = a.shape, b.shape[0]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    device_descriptor_kernel[grid](a, b, c, M, N, K, BM=32, BN=32, BK=32)
    return c


@triton.jit
def host_descriptor_kernel(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([m, k]), b_desc.load([k, n]), acc)
    c_desc.store([m, n], acc.to(c_desc.dtype))


def matmul_host_descriptors(a: Tensor, b: Tensor) -> Tensor:
    """a (M, K) @ b (K, N)"""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    a_desc = TensorDescriptor.from_tensor(a, [32, 32])
    b_desc = TensorDescriptor.from_tensor(b, [32, 32])
    c_desc = TensorDescriptor.from_tensor(c, [32, 32])
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    host_descriptor_kernel[grid](a_desc, b_desc, c_desc, K, BM=32, BN=32, BK=32)
    return c


def nt(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(75, 104, dtype=dtype, seed=seed), randn(88, 104, dtype=dtype, seed=seed + 1)), {}


def nn_with_row_strides(dtype: torch.dtype, seed: int) -> Inputs:
    a = randn(75, 128, dtype=dtype, seed=seed)[:, 8:112]
    return (a, randn(104, 96, dtype=dtype, seed=seed + 1)[:, :88]), {}


def nt_reference(m, a: Tensor, b: Tensor) -> Tensor:
    return m.narrow(m.dot(m.up(a), m.up(b).t()))


def nn_reference(m, a: Tensor, b: Tensor) -> Tensor:
    return m.narrow(m.dot(m.up(a), m.up(b)))


CASES = [
    Case("matmul_device_descriptors", matmul_device_descriptors, nt, nt_reference),
    Case("matmul_host_descriptors", matmul_host_descriptors, nn_with_row_strides, nn_reference),
]
