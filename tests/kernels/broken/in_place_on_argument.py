"""The function works in place and returns its argument."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def relu_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, tl.where(x > 0, x, 0.0), mask=offsets < n)  # fault


def relu(x: Tensor) -> Tensor:
    relu_kernel[(triton.cdiv(x.numel(), 256),)](x, x.numel(), BLOCK=256)
    return x


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="in_place_on_argument",
    function=relu,
    make_inputs=inputs,
    kind="modified_input",
    message=r"stores into x\b",
)
