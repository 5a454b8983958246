"""A program takes its neighbour's carry without waiting for it."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def chained_kernel(x_ptr, out_ptr, carry_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    carry = tl.load(carry_ptr + pid)  # fault
    tl.store(carry_ptr + pid + 1, carry + tl.sum(x, axis=0))
    tl.store(out_ptr + offsets, carry + tl.cumsum(x, axis=0), mask=offsets < n)


def chained_cumsum(x: Tensor) -> Tensor:
    programs = triton.cdiv(x.numel(), 256)
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    carry = torch.zeros(programs + 1, dtype=torch.float32, device=x.device)
    chained_kernel[(programs,)](x, out, carry, x.numel(), BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="carry_without_flag",
    function=chained_cumsum,
    make_inputs=inputs,
    kind="race",
    message=r"program \(1, 0, 0\) loads element 1 of carry.*program \(0, 0, 0\) wrote",
)
