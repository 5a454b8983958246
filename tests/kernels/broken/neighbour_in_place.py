"""A shift in place: a program overwrites what its neighbour still has to read."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def shift_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(x_ptr + offsets, x, mask=offsets < n)  # fault


def shift(x: Tensor) -> Tensor:
    out = x.clone()
    shift_kernel[(triton.cdiv(x.numel(), 256),)](out, x.numel(), BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="neighbour_in_place",
    function=shift,
    make_inputs=inputs,
    kind="race",
    message=r"element 256 of out.*program \(0, 0, 0\)",
)
