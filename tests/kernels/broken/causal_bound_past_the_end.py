"""The causal loop runs to the tile's last query, which may lie past the last key."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def causal_sum_kernel(k_ptr, out_ptr, T, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    rq = tile * BQ + tl.arange(0, BQ)
    d = tl.arange(0, D)
    acc = tl.zeros((BQ, D), dtype=tl.float32)
    for start in range(0, (tile + 1) * BQ, BK):
        rk = start + tl.arange(0, BK)
        k = tl.load(k_ptr + rk[:, None] * D + d[None, :]).to(tl.float32)  # fault
        keep = (rq[:, None] >= rk[None, :]).to(tl.float32)
        acc += tl.dot(keep, k)
    tl.store(out_ptr + rq[:, None] * D + d[None, :], acc, mask=rq[:, None] < T)


def causal_sum(k: Tensor) -> Tensor:
    T, D = k.shape
    out = torch.empty((T, D), dtype=torch.float32, device=k.device)
    causal_sum_kernel[(triton.cdiv(T, 32),)](k, out, T, D=D, BQ=32, BK=16)
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(50, 16, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="causal_bound_past_the_end",
    function=causal_sum,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"program \(1, 0, 0\).*row 50 of 50.*\bk\b.*mask.*< T",
)
