"""The result goes to the input's pointer; the output stays as it was."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, 2 * x, mask=offsets < n)  # fault


def double(x: Tensor) -> Tensor:
    n = x.numel()
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="store_into_input",
    function=double,
    make_inputs=inputs,
    kind="modified_input",
    message=r"stores into x\b.*new tensor",
    also=("unwritten_output",),
)
