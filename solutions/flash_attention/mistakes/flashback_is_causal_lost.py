"""FlashAttention.backward forgets is_causal."""

from typing import Any

import torch
from torch import Tensor

from ..backward import flash_backward
from ..forward import flash_forward

EXERCISE = "flash_backward"
HINT = (
    "Your Function's forward pass is causal, its backward pass is not: keep is_causal on ctx, and "
    "hand it to flash_backward."
)
FAILS = ("test_the_function_joins_both_passes",)
SYMPTOMS = ("backward_not_masked",)
ALSO = ()


class FlashAttention(torch.autograd.Function):
    """Wrong: see the module."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False) -> Tensor:
        """Save what backward needs."""
        out, lse = flash_forward(q, k, v, causal=is_causal)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients."""
        q, k, v, out, lse = ctx.saved_tensors
        return *flash_backward(q, k, v, out, lse, grad_out), None
