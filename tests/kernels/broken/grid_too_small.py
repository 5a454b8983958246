"""The grid rounds down, so the ragged tail is never written."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, 2 * x, mask=offsets < n)


def double(x: Tensor) -> Tensor:
    n = x.numel()
    out = torch.empty_like(x)  # fault
    double_kernel[(n // 256,)](x, out, n, BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="grid_too_small",
    function=double,
    make_inputs=inputs,
    kind="unwritten_output",
    message=r"232 of 1,000 elements.*768.*grid",
)
