"""FlashAttention as a PyTorch function, and the three calls below it: forward, backward, decode."""

from typing import Any

import torch
from torch import Tensor

from kernels_ref.flash.backward import flash_attention_backward
from kernels_ref.flash.decode import flash_decode
from kernels_ref.flash.forward import flash_attention_forward

__all__ = [
    "FlashAttention",
    "flash_attention",
    "flash_attention_backward",
    "flash_attention_forward",
    "flash_decode",
]


class FlashAttention(torch.autograd.Function):
    """Keeps q, k, v, out and lse for the backward: nothing of size T × T."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
    ) -> Tensor:
        """Output (..., H, T_q, D)."""
        out, lse = flash_attention_forward(q, k, v, causal=causal, scale=scale)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal, ctx.scale = causal, scale
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of q, k, v; none of `causal` and `scale`."""
        q, k, v, out, lse = ctx.saved_tensors
        found = flash_attention_backward(q, k, v, out, lse, grads[0], causal=ctx.causal, scale=ctx.scale)
        return *found, None, None


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None
) -> Tensor:
    """Attention with gradients, (..., H, T_q, D); arguments and errors as for `flash_attention_forward`."""
    out: Tensor = FlashAttention.apply(q, k, v, causal, scale)  # type: ignore[no-untyped-call]
    return out
