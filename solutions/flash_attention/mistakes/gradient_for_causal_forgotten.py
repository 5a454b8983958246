"""backward returns no value for `causal`."""

from typing import TYPE_CHECKING

import torch

from ..tiled import TiledAttention as right

EXERCISE = "tiled_backward"
HINT = (
    "backward returns one value for each argument of forward behind ctx: q, k, v and causal. The last one"
    " gets None."
)
FAILS = (
    "test_autograd_goes_through_the_function",
    "test_the_function_keeps_no_matrix",
    "test_any_pass_through_the_function",
)
SYMPTOMS = ("function_gradient_count",)


if TYPE_CHECKING:
    from torch import Tensor


class _Wrong(torch.autograd.Function):
    forward = right.forward

    @staticmethod
    def backward(ctx, grad_out):
        return right.backward(ctx, grad_out)[:3]


def TiledAttention(*inputs: "Tensor") -> "Tensor":
    raise TypeError("call TiledAttention.apply")


TiledAttention.apply = _Wrong.apply
