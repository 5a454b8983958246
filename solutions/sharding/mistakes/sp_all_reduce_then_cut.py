"""The way out all-reduces all tokens and then keeps the rank's own."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import Group, _gathered, _own, _summed
from ..tensor_parallel import SequenceRowParallelLinear as Right

EXERCISE = "sequence_parallel_linear"
HINT = "Your way out adds up all tokens on every rank, and throws most of them away: twice the bytes of a reduce-scatter, which gives each rank its own tokens only."
FAILS = ("test_an_all_reduce_becomes_a_reduce_scatter_and_an_all_gather", "test_any_way_out")
SYMPTOMS = ("forward.all_reduce_for_reduce_scatter",)


class _SumAndCut(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group, ctx.whole = group, x.shape[-2]
        return _own(_summed(x, group), -2, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _gathered(grad, -2, ctx.whole, ctx.group), None


class SequenceRowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-2] % dist.get_world_size(self.group):
            raise ValueError("the ranks do not divide the tokens")
        out = _SumAndCut.apply(functional.linear(x, self.weight), self.group)
        return out if self.bias is None else out + self.bias
