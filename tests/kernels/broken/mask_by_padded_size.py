"""The mask compares with the block size, a power of two, not with the row's length."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < BLOCK
    x = tl.load(x_ptr + row * n_columns + columns, mask=inside, other=-float("inf")).to(tl.float32)  # fault
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n_columns + columns, e / tl.sum(e, axis=0), mask=columns < n_columns)


def softmax(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(4, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="mask_by_padded_size",
    function=softmax,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"program \(3, 0, 0\).*(row 4 of 4|column 100 of 100).*\bx\b",
)
