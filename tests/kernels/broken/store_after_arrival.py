"""Split-K counts a program as arrived before its partial sum is stored."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def total_kernel(x_ptr, part_ptr, count_ptr, out_ptr, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    arrived = tl.atomic_add(count_ptr, 1)
    tl.store(part_ptr + pid, tl.sum(x, axis=0))
    if arrived == PROGRAMS - 1:
        tl.debug_barrier()
        part = tl.load(part_ptr + tl.arange(0, PROGRAMS))  # fault
        tl.store(out_ptr, tl.sum(part, axis=0))


def total(x: Tensor) -> Tensor:
    part = torch.empty(4, dtype=torch.float32, device=x.device)
    count = torch.zeros(1, dtype=torch.int32, device=x.device)
    out = torch.empty(1, dtype=torch.float32, device=x.device)
    total_kernel[(4,)](x, part, count, out, x.numel(), PROGRAMS=4, BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="store_after_arrival",
    function=total,
    make_inputs=inputs,
    kind="race",
    message=r"program \(3, 0, 0\) loads element 0 of part.*program \(0, 0, 0\) wrote",
)
