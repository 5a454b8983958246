"""The loop bound adds a block to a length that divides already."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def score_kernel(q_ptr, k_ptr, out_ptr, H, T, k_h, D: tl.constexpr, BT: tl.constexpr):
    h = tl.program_id(0)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + h * D + d).to(tl.float32)
    for start in range(0, T + BT, BT):
        t = start + tl.arange(0, BT)
        k = tl.load(k_ptr + h * k_h + t[:, None] * D + d[None, :])  # fault
        s = tl.sum(k.to(tl.float32) * q[None, :], 1)
        tl.store(out_ptr + h * T + t, s, mask=t < T)


def scores(q: Tensor, k: Tensor) -> Tensor:
    """q (H, D), k (H_kv, T, D)"""
    (H, D), T = q.shape, k.shape[1]
    out = torch.empty((H, T), dtype=torch.float32, device=q.device)
    score_kernel[(H,)](q, k, out, H, T, k.stride(0), D=D, BT=16)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(1, 32, dtype=dtype, seed=seed), randn(1, 48, 32, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="loop_one_block_too_many",
    function=scores,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"row 48 of 48.*\bk\b",
)
