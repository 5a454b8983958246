"""One of the tuner's block sizes does not divide the row, and the loop drops the remainder."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["N"])  # fault
@triton.jit
def row_sum_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for block in range(N // BLOCK):
        acc += tl.load(x_ptr + row * N + block * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(acc, axis=0))


def row_sums(x: Tensor) -> Tensor:
    rows, N = x.shape
    out = torch.empty(rows, dtype=torch.float32, device=x.device)
    row_sum_kernel[(rows,)](x, out, N)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(5, 96, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="configs_disagree",
    function=row_sums,
    make_inputs=inputs,
    kind="configs_disagree",
    message=r"\bout_ptr\b.*BLOCK=32 and BLOCK=64",
)
