"""Grouped heads: k is indexed with the query's head, of which there are more."""

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
    for start in range(0, T, BT):
        t = start + tl.arange(0, BT)
        k = tl.load(k_ptr + h * k_h + t[:, None] * D + d[None, :], mask=t[:, None] < T, other=0.0)  # fault
        s = tl.sum(k.to(tl.float32) * q[None, :], 1)
        tl.store(out_ptr + h * T + t, s, mask=t < T)


def scores(q: Tensor, k: Tensor) -> Tensor:
    """q (H, D), k (H_kv, T, D)"""
    (H, D), T = q.shape, k.shape[1]
    out = torch.empty((H, T), dtype=torch.float32, device=q.device)
    score_kernel[(H,)](q, k, out, H, T, k.stride(0), D=D, BT=16)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(4, 32, dtype=dtype, seed=seed), randn(2, 40, 32, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="kv_head_of_query_head",
    function=scores,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"program \(2, 0, 0\).*\bk\b.*(grid|head|stride)",
)
