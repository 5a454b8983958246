"""The accumulator has the output's dtype: in bf16, which no tensor core adds up in."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=c_ptr.dtype.element_ty)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :])
        b = tl.load(b_ptr + rk[:, None] * BN + rn[None, :])
        acc = tl.dot(a, b, acc)  # fault
    tl.store(c_ptr + rm[:, None] * BN + rn[None, :], acc)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """a (32, K), b (K, 16); K a multiple of 16"""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    matmul_kernel[(1,)](a, b, c, K, BM=M, BN=N, BK=16)
    return c


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(32, 64, dtype=dtype, seed=seed), randn(64, 16, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="dot_accumulator_in_bf16",
    function=matmul,
    make_inputs=inputs,
    kind="dot_operands",
    message=r"tl\.dot of 32×16 bf16.*(accumulator|out_dtype)",
    dtypes=("bfloat16",),
)
