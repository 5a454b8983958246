"""The second pass runs before the first has written what it reads."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def row_max_kernel(x_ptr, top_ptr, N, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
    tl.store(top_ptr + row, tl.max(x, axis=0))


@triton.jit
def shift_kernel(x_ptr, top_ptr, out_ptr, N, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    top = tl.load(top_ptr + row)  # fault
    x = tl.load(x_ptr + row * N + columns, mask=columns < N)
    tl.store(out_ptr + row * N + columns, x - top, mask=columns < N)


def shift(x: Tensor) -> Tensor:
    rows, N = x.shape
    top = torch.empty(rows, dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    shift_kernel[(rows,)](x, top, out, N, BLOCK=128)
    row_max_kernel[(rows,)](x, top, N, BLOCK=128)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(5, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="kernels_in_wrong_order",
    function=shift,
    make_inputs=inputs,
    kind="uninitialised_read",
    message=r"loads element 0 of top.*nothing has written",
)
