"""The Function keeps P for the backward pass."""

from typing import TYPE_CHECKING

import torch

from ..tiled import TiledAttention as right

EXERCISE = "tiled_backward"
HINT = (
    "Your Function keeps P. That is the T² which was to be saved: keep out and lse, and compute P again, "
    "tile by tile."
)
FAILS = (
    "test_the_function_keeps_no_matrix",
    "test_any_pass_through_the_function",
)
SYMPTOMS = ("function_keeps_too_much",)


if TYPE_CHECKING:
    from torch import Tensor


class _Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal=False):
        out = right.forward(ctx, q, k, v, causal)
        ctx.save_for_backward(*ctx.to_save, q @ k.mT)
        return out

    @staticmethod
    def backward(ctx, grad_out):
        class Kept:
            saved_tensors = ctx.saved_tensors[:5]
            causal = ctx.causal

        return right.backward(Kept, grad_out)


def TiledAttention(*inputs: "Tensor") -> "Tensor":
    raise TypeError("call TiledAttention.apply")


TiledAttention.apply = _Wrong.apply
