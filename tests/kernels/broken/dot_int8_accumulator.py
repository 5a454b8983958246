"""The accumulator of an int8 dot is int32, and out_dtype still says float32."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def dot_kernel(a_ptr, b_ptr, c_ptr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, K)
    a = tl.load(a_ptr + rm[:, None] * K + rk[None, :])
    b = tl.load(b_ptr + rk[:, None] * BN + rn[None, :])
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    acc = tl.dot(a, b, acc)  # fault
    tl.store(c_ptr + rm[:, None] * BN + rn[None, :], acc.to(tl.float32))


def matmul(a: Tensor, b: Tensor) -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=a.device)
    dot_kernel[(1,)](a, b, c, K=K, BM=M, BN=N)
    return c


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    a, b = (10 * randn(32, 32, dtype=dtype, seed=seed + i) for i in range(2))
    return (a.to(torch.int8), b.to(torch.int8)), {}


CASE = Broken(
    name="dot_int8_accumulator",
    function=matmul,
    make_inputs=inputs,
    kind="dot_operands",
    message=r"tl\.dot of 32×32 int8.*accumulator.*out_dtype",
)
