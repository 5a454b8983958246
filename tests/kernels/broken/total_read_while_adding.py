"""Every program adds its part of a softmax's denominator, and divides by what is there so far."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def softmax_kernel(x_ptr, total_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=float("-inf")).to(tl.float32)
    e = tl.exp(x)
    tl.atomic_add(total_ptr, tl.sum(e, axis=0))
    total = tl.load(total_ptr)  # fault
    tl.store(out_ptr + offsets, e / total, mask=offsets < n)


def softmax(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    total = torch.zeros(1, dtype=torch.float32, device=x.device)
    softmax_kernel[(triton.cdiv(x.numel(), 256),)](x, total, out, x.numel(), BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="total_read_while_adding",
    function=softmax,
    make_inputs=inputs,
    kind="race",
    message=r"loads element 0 of total .*program \(1, 0, 0\) updates atomically.*second launch",
)
