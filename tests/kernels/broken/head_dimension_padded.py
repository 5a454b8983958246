"""q is one of three interleaved views; the block is wider than the head and runs into k."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def scale_kernel(q_ptr, out_ptr, T, D, q_t, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, BD)
    q = tl.load(q_ptr + t[:, None] * q_t + d[None, :], mask=t[:, None] < T)  # fault
    tl.store(out_ptr + t[:, None] * D + d[None, :], 2 * q, mask=(t[:, None] < T) & (d[None, :] < D))


def scale(qkv: Tensor) -> Tensor:
    """qkv (T, 3, D)"""
    q, _, _ = qkv.unbind(1)
    T, D = q.shape
    out = torch.empty((T, D), dtype=q.dtype, device=q.device)
    scale_kernel[(triton.cdiv(T, 16),)](q, out, T, D, q.stride(0), BT=16, BD=triton.next_power_of_2(D))
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(40, 3, 24, dtype=dtype, seed=seed),), {}


CASE = Broken(
    name="head_dimension_padded",
    function=scale,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"column 24 of 24.*\bq\b.*< D",
)
