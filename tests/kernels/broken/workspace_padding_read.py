"""Partial sums are written with a mask and read back without: the padding was never written."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def partial_kernel(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.store(part_ptr + pid, tl.sum(x, axis=0))


@triton.jit
def total_kernel(part_ptr, out_ptr, BLOCK: tl.constexpr):
    part = tl.load(part_ptr + tl.arange(0, BLOCK))  # fault
    tl.store(out_ptr, tl.sum(part, axis=0))


def total(x: Tensor) -> Tensor:
    programs = triton.cdiv(x.numel(), 128)
    padded = triton.next_power_of_2(programs + 1)
    part = torch.empty(padded, dtype=torch.float32, device=x.device)
    out = torch.empty(1, dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](x, part, x.numel(), BLOCK=128)
    total_kernel[(1,)](part, out, BLOCK=padded)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="workspace_padding_read",
    function=total,
    make_inputs=inputs,
    kind="uninitialised_read",
    message=r"loads element 8 of part.*nothing has written",
)
