"""The kernel calls a function that is not under @triton.jit: the interpreter runs it, a GPU cannot."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


def leaky(x, slope):
    return tl.where(x > 0, x, x * slope)


@triton.jit
def leaky_kernel(x_ptr, y_ptr, slope, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, leaky(x, slope))  # fault


def leaky_relu(x: Tensor, slope: float) -> Tensor:
    y = torch.empty_like(x)
    leaky_kernel[(1,)](x, y, slope, N=x.numel())
    return y


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(64, dtype=dtype, seed=seed), 0.1), {}


CASE = Broken(
    name="python_in_kernel",
    function=leaky_relu,
    make_inputs=inputs,
    kind="not_triton",
    message=r"`leaky` is a Python function: put @triton\.jit above it",
)
