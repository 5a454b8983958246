"""The Function does not hand `causal` to its backward pass."""

from typing import TYPE_CHECKING

import torch

from ..tiled import TiledAttention as right

EXERCISE = "tiled_backward"
HINT = "Your Function masks the forward pass only: keep causal on ctx, and give it to the backward pass."
FAILS = (
    "test_autograd_goes_through_the_function",
    "test_the_function_keeps_no_matrix",
    "test_any_pass_through_the_function",
)
SYMPTOMS = ("backward_not_masked_in_function",)


if TYPE_CHECKING:
    from torch import Tensor


class _Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal=False):
        out = right.forward(ctx, q, k, v, causal)
        ctx.causal = False
        return out

    backward = right.backward


def TiledAttention(*inputs: "Tensor") -> "Tensor":
    raise TypeError("call TiledAttention.apply")


TiledAttention.apply = _Wrong.apply
