"""The function puts a value into the kernel's output itself, past PyTorch."""

import ctypes

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


def patched_exp(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    exp_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    ctypes.memset(out.data_ptr() + 2 * out.element_size(), 1, out.element_size())
    return out.clone()  # fault


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="written_by_address",
    function=patched_exp,
    make_inputs=inputs,
    kind="unseen_write",
    message=r"\bout\b.*neither a kernel nor.*\[2\].*copy_",
)
