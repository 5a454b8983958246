"""A kernel with heuristics: masks only where the rows do not divide by the block."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Case, Inputs, randn


@triton.heuristics(
    {
        "BLOCK": lambda args: min(128, triton.next_power_of_2(args["N"])),
        "EVEN": lambda args: args["N"] % min(128, triton.next_power_of_2(args["N"])) == 0,
    }
)
@triton.jit
def row_norm_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(x_ptr + row * N + columns)
        else:
            x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=0.0)
        acc += x.to(tl.float32) * x.to(tl.float32)
    tl.store(out_ptr + row, tl.sqrt(tl.sum(acc, axis=0)).to(out_ptr.dtype.element_ty))


def row_norm(x: Tensor) -> Tensor:
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    row_norm_kernel[(x.shape[0],)](x, out, x.shape[1])
    return out


def even(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(40, 256, dtype=dtype, seed=seed),), {}


def odd(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(40, 201, dtype=dtype, seed=seed),), {}


def reference(m, x: Tensor) -> Tensor:
    return m.narrow(torch.sqrt(m.sum(m.up(x) ** 2, -1)))


CASES = [
    Case("row_norm_heuristics_even", row_norm, even, reference),
    Case("row_norm_heuristics_ragged", row_norm, odd, reference),
]
