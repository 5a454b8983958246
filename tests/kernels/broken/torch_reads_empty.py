"""The kernel fills half of the rows, and PyTorch sums over all of them."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def row_kernel(x_ptr, part_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=0.0).to(tl.float32)
    tl.store(part_ptr + row, tl.sum(x, axis=0))


def total(x: Tensor) -> Tensor:
    rows, N = x.shape
    part = torch.empty(rows, dtype=torch.float32, device=x.device)
    row_kernel[(rows // 2,)](x, part, N, BLOCK=128)
    return part.sum()  # fault


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(6, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="torch_reads_empty",
    function=total,
    make_inputs=inputs,
    kind="uninitialised_read",
    message=r"sum reads part.*3 of 6.*written",
)
