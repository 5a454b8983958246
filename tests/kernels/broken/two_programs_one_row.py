"""Two programs share an output row and write different halves of the sum to it."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def half_row_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row, half = pid // 2, pid % 2
    columns = half * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(x, axis=0))  # fault


def row_sums(x: Tensor) -> Tensor:
    rows, N = x.shape
    out = torch.empty(rows, dtype=torch.float32, device=x.device)
    half_row_kernel[(2 * rows,)](x, out, N, BLOCK=64)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(5, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="two_programs_one_row",
    function=row_sums,
    make_inputs=inputs,
    kind="race",
    message=r"program \(1, 0, 0\).*element 0 of out.*program \(0, 0, 0\)",
)
