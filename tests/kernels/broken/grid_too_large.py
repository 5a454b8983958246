"""One program too many, and no masks, for a length that divides by the block."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # fault
    tl.store(out_ptr + offsets, 2 * x)


def double(x: Tensor) -> Tensor:
    n = x.numel()
    out = torch.empty_like(x)
    double_kernel[(n // 256 + 1,)](x, out, n, BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1024, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="grid_too_large",
    function=double,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"program \(4, 0, 0\).*1024 of 1024.*\bx\b.*grid",
)
