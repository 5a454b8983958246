"""The logsumexp's pointer lacks the head's offset: all heads write the first one's rows."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def lse_kernel(s_ptr, lse_ptr, T, N, BT: tl.constexpr, BN: tl.constexpr):
    h = tl.program_id(1)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    n = tl.arange(0, BN)
    mask = (t[:, None] < T) & (n[None, :] < N)
    s = tl.load(s_ptr + (h * T + t[:, None]) * N + n[None, :], mask=mask, other=-1e30).to(tl.float32)
    top = tl.max(s, 1)
    tl.store(lse_ptr + t, top + tl.log(tl.sum(tl.exp(s - top[:, None]), 1)), mask=t < T)  # fault


def row_lse(s: Tensor) -> Tensor:
    H, T, N = s.shape
    lse = torch.empty((H, T), dtype=torch.float32, device=s.device)
    lse_kernel[(triton.cdiv(T, 16), H)](s, lse, T, N, BT=16, BN=triton.next_power_of_2(N))
    return lse


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(2, 20, 30, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="lse_without_head_offset",
    function=row_lse,
    make_inputs=inputs,
    kind="race",
    message=r"program \(0, 1, 0\) stores to element \(0, 0\) of lse.*program \(0, 0, 0\)",
    also=("unwritten_output",),
)
