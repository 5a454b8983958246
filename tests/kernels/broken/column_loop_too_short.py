"""The loop over columns stops a block early, so the last columns are never written."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def scale_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, N - BLOCK, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + columns, mask=columns < N)
        tl.store(out_ptr + row * N + columns, 2 * x, mask=columns < N)


def scale(x: Tensor) -> Tensor:
    out = torch.empty_like(x)  # fault
    scale_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=32)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(5, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="column_loop_too_short",
    function=scale,
    make_inputs=inputs,
    kind="unwritten_output",
    message=r"elements were never written.*\(0, 96\).*column",
)
