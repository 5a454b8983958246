"""The function scales its argument in place before it launches."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def exp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    tl.store(out_ptr + offsets, tl.exp(x), mask=offsets < n)


def scaled_exp(x: Tensor) -> Tensor:
    x *= 0.5  # fault
    out = torch.empty_like(x)
    exp_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="torch_op_in_place",
    function=scaled_exp,
    make_inputs=inputs,
    kind="modified_input",
    message=r"\bmul_.*\bx\b.*clone",
)
