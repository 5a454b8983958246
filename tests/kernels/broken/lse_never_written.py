"""The logsumexp is returned, and no kernel stores it."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def softmax_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * N + columns, e / tl.sum(e, axis=0), mask=columns < N)


def softmax(x: Tensor) -> tuple[Tensor, Tensor]:
    rows, N = x.shape
    out = torch.empty_like(x)
    lse = torch.empty(rows, dtype=torch.float32, device=x.device)  # fault
    softmax_kernel[(rows,)](x, out, N, BLOCK=triton.next_power_of_2(N))
    return out, lse


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(5, 100, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="lse_never_written",
    function=softmax,
    make_inputs=inputs,
    kind="unwritten_output",
    message=r"no element was written",
)
