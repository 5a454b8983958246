"""f averages the gradient of x over the ranks instead of adding it up."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import Group, _GatherFeatures, _summed

EXERCISE = "parallel_linear"
HINT = "Your gradient of x is divided by the number of ranks. The parts belong to different features of one output: they add up, nothing is averaged."
FAILS = ("test_a_column_parallel_layer_gives_every_rank_its_features", "test_any_columns")
SYMPTOMS = ("column.gradient_averaged",)


class _Averaged(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _summed(grad, ctx.group) / dist.get_world_size(ctx.group), None


class ColumnParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        out = functional.linear(_Averaged.apply(x, self.group), self.weight, self.bias)
        return _GatherFeatures.apply(out, self.out_features, self.group) if self.gather_output else out
