"""A three-point stencil reads the element before the first."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def stencil_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + offsets - 1, mask=offsets < n, other=0.0)  # fault
    middle = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    right = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(out_ptr + offsets, left + middle + right, mask=offsets < n)


def stencil(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    stencil_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="negative_index",
    function=stencil,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"element -1 of 1000.*\bx\b.*>= 0",
)
