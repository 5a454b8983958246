"""Each query head stores the gradient of the key head that it shares with others."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def dk_kernel(q_ptr, ds_ptr, dk_ptr, T, GROUP: tl.constexpr, D: tl.constexpr, BT: tl.constexpr):
    h = tl.program_id(0)
    d = tl.arange(0, D)
    t = tl.arange(0, BT)
    q = tl.load(q_ptr + h * T * D + t[:, None] * D + d[None, :], mask=t[:, None] < T, other=0.0)
    s_mask = (t[:, None] < T) & (t[None, :] < T)
    ds = tl.load(ds_ptr + h * T * T + t[None, :] * T + t[:, None], mask=s_mask, other=0.0)
    dk = tl.dot(ds, q)
    tl.store(dk_ptr + h // GROUP * T * D + t[:, None] * D + d[None, :], dk, mask=t[:, None] < T)  # fault


def key_gradient(q: Tensor, ds: Tensor) -> Tensor:
    """q (H, T, D), ds (H, T, T), two query heads to a key head."""
    H, T, D = q.shape
    dk = torch.empty((H // 2, T, D), dtype=torch.float32, device=q.device)
    dk_kernel[(H,)](q, ds, dk, T, GROUP=2, D=D, BT=32)
    return dk


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (randn(4, 25, 16, dtype=dtype, seed=seed), randn(4, 25, 25, dtype=dtype, seed=seed + 1)), {}


CASE = Broken(
    name="grouped_heads_share_a_gradient",
    function=key_gradient,
    make_inputs=inputs,
    kind="race",
    message=r"program \(1, 0, 0\) stores to element \(0, 0, 0\) of dk.*program \(0, 0, 0\)",
)
