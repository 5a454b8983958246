"""FlashAttention.backward returns dV before dK."""

from typing import Any

import torch
from torch import Tensor

from ..backward import flash_backward
from ..forward import flash_forward

EXERCISE = "flash_backward"
HINT = (
    "The gradients come back in the order of forward's arguments: q, k, v. Two of yours are in each "
    "other's place."
)
FAILS = ("test_the_function_joins_both_passes",)
SYMPTOMS = ("dk_and_dv_swapped",)
ALSO = ()


class FlashAttention(torch.autograd.Function):
    """Wrong: see the module."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False) -> Tensor:
        """Save what backward needs."""
        out, lse = flash_forward(q, k, v, causal=is_causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.is_causal = is_causal
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients."""
        q, k, v, out, lse = ctx.saved_tensors
        dq, dk, dv = flash_backward(q, k, v, out, lse, grad_out, causal=ctx.is_causal)
        return dq, dv, dk, None
