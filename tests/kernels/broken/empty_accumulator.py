"""The kernel adds to a tensor that torch.empty made."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def accumulate_kernel(x_ptr, total_ptr, M, N, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < N
    for row in range(M):
        total = tl.load(total_ptr + columns, mask=mask)  # fault
        x = tl.load(x_ptr + row * N + columns, mask=mask).to(tl.float32)
        tl.store(total_ptr + columns, total + x, mask=mask)


def column_sums(x: Tensor) -> Tensor:
    M, N = x.shape
    total = torch.empty(N, dtype=torch.float32, device=x.device)
    accumulate_kernel[(triton.cdiv(N, 64),)](x, total, M, N, BLOCK=64)
    return total


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(5, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="empty_accumulator",
    function=column_sums,
    make_inputs=inputs,
    kind="uninitialised_read",
    message=r"loads element 0 of total.*torch\.zeros",
)
