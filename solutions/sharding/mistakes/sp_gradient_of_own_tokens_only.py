"""The way out sends back a gradient for the rank's own tokens, and zeros for the others."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import Group, _scattered_sum
from ..tensor_parallel import SequenceRowParallelLinear as Right

EXERCISE = "sequence_parallel_linear"
HINT = "The gradients of x and of the weight come from the rank's own tokens only. Backward of a reduce-scatter is an all-gather: each rank had a part in every token's sum."
FAILS = ("test_sums_are_scattered_on_the_way_out", "test_any_way_out")
SYMPTOMS = ("sequence.gradient_of_own_tokens_only", "backward.no_all_gather")


class _Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group, ctx.shape = group, x.shape
        return _scattered_sum(x, -2, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        whole = grad.new_zeros(ctx.shape)
        length = grad.shape[-2]
        whole.narrow(-2, dist.get_rank(ctx.group) * length, length).copy_(grad)
        return whole, None


class SequenceRowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-2] % dist.get_world_size(self.group):
            raise ValueError("the ranks do not divide the tokens")
        out = _Scatter.apply(functional.linear(x, self.weight), self.group)
        return out if self.bias is None else out + self.bias
