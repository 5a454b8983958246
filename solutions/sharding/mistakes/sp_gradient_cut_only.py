"""The way in takes its own tokens of the gradient, and adds nothing up."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import Group, _gathered, _own
from ..tensor_parallel import SequenceColumnParallelLinear as Right

EXERCISE = "sequence_parallel_linear"
HINT = "The gradient of x is that of the rank's own features. Backward of an all-gather is a reduce-scatter: each rank has a part of the gradient of every token."
FAILS = ("test_tokens_are_gathered_on_the_way_in", "test_any_way_in")
SYMPTOMS = ("sequence.gradient_not_reduced", "backward.no_reduce_scatter")


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return _gathered(x, -2, x.shape[-2] * dist.get_world_size(group), group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _own(grad, -2, ctx.group), None


class SequenceColumnParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(_Gather.apply(x, self.group), self.weight, self.bias)
