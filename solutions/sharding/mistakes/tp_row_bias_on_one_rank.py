"""Only rank 0 adds the bias, so that the copies of the others never learn."""

import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import RowParallelLinear as Right
from ..tensor_parallel import _ReduceFromRanks, _SplitFeatures

EXERCISE = "parallel_linear"
HINT = "The bias is added by one rank alone: its copies on the other ranks get no gradient, and drift apart with the first step. Add it on every rank, behind the sum."
FAILS = ("test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once", "test_any_rows")
SYMPTOMS = ("no_gradient_of_bias", "row.bias_gradient_zero")


class RowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        own = x if self.input_is_parallel else _SplitFeatures.apply(x, self.group)
        bias = self.bias if dist.get_rank(self.group) == 0 else None
        return _ReduceFromRanks.apply(functional.linear(own, self.weight, bias), self.group)
