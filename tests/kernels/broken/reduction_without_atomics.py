"""Every program loads the total, adds its part and stores it, with nothing in between them."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def sum_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.store(total_ptr, tl.load(total_ptr) + tl.sum(x, axis=0))  # fault


def total(x: Tensor) -> Tensor:
    out = torch.zeros(1, dtype=torch.float32, device=x.device)
    sum_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="reduction_without_atomics",
    function=total,
    make_inputs=inputs,
    kind="race",
    message=r"element 0 of out.*tl\.atomic_add",
)
