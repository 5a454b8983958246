"""The dot sums over 4 elements; the tensor core takes 8 or 16 at a time."""

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
    tl.store(c_ptr + rm[:, None] * BN + rn[None, :], tl.dot(a, b))  # fault


def matmul(a: Tensor, b: Tensor) -> Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=a.device)
    dot_kernel[(1,)](a, b, c, K=K, BM=M, BN=N)
    return c


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(32, 4, dtype=dtype, seed=seed), randn(4, 16, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="dot_too_small",
    function=matmul,
    make_inputs=inputs,
    kind="dot_operands",
    message=r"tl\.dot of 32×4.*K >= (8|16)",
)
