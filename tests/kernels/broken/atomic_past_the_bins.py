"""The largest value falls into a bin past the last."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs


@triton.jit
def histogram_kernel(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(counts_ptr + (x * BINS).to(tl.int32), 1, mask=mask)  # fault


def histogram(x: Tensor) -> Tensor:
    """x in [0, 1]"""
    counts = torch.zeros(8, dtype=torch.int32, device=x.device)
    histogram_kernel[(triton.cdiv(x.numel(), 128),)](x, counts, x.numel(), BINS=8, BLOCK=128)
    return counts


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (torch.linspace(0, 1, 300).to(dtype),), {}


CASE = Broken(
    name="atomic_past_the_bins",
    function=histogram,
    make_inputs=inputs,
    kind="out_of_bounds_store",
    message=r"element 8 of 8.*\bcounts\b.*clamp",
)
