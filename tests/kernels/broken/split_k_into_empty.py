"""Split-K adds atomically into a tensor that torch.empty made."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.program_id(0) * BK + tl.arange(0, BK)
    a = tl.load(a_ptr + rm[:, None] * K + rk[None, :])
    b = tl.load(b_ptr + rk[:, None] * N + rn[None, :])
    acc = tl.dot(a, b)
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc)  # fault


def split_k(a: Tensor, b: Tensor) -> Tensor:
    """a (16, K), b (K, 32); K a multiple of 16"""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=a.device)
    split_k_kernel[(K // 16,)](a, b, c, N, K, BM=16, BN=32, BK=16)
    return c


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(16, 64, dtype=dtype, seed=seed), randn(64, 32, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="split_k_into_empty",
    function=split_k,
    make_inputs=inputs,
    kind="uninitialised_read",
    message=r"\(0, 0\) of c\b.*torch\.zeros",
)
