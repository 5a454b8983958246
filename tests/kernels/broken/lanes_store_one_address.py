"""A reduction is left out: all lanes of a segment store to the segment's one element."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def segment_kernel(x_ptr, out_ptr, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets // WIDTH, x, mask=offsets < n)  # fault


def segment_sums(x: Tensor) -> Tensor:
    out = torch.zeros(triton.cdiv(x.numel(), 8), dtype=torch.float32, device=x.device)
    segment_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), WIDTH=8, BLOCK=256)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1000, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="lanes_store_one_address",
    function=segment_sums,
    make_inputs=inputs,
    kind="race",
    message=r"different values to element 0 of out.*one tl\.store",
)
