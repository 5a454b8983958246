"""FlashAttention ignores is_causal."""

from typing import Any

import torch
from torch import Tensor

from ..backward import flash_backward
from ..forward import flash_forward

EXERCISE = "flash_backward"
HINT = (
    "Your Function gives the same for both values of is_causal: hand it to flash_forward, and keep it "
    "on ctx for the backward pass."
)
FAILS = ("test_the_function_joins_both_passes",)
SYMPTOMS = ("is_causal_ignored",)
ALSO = ()


class FlashAttention(torch.autograd.Function):
    """Wrong: see the module."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False) -> Tensor:
        """Save what backward needs."""
        out, lse = flash_forward(q, k, v, causal=False)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.is_causal = is_causal
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients."""
        q, k, v, out, lse = ctx.saved_tensors
        return *flash_backward(q, k, v, out, lse, grad_out), None
