"""The row-parallel output is the mean of the ranks' parts."""

import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import RowParallelLinear as Right
from ..tensor_parallel import _ReduceFromRanks, _SplitFeatures

EXERCISE = "parallel_linear"
HINT = "Your row-parallel output is too small by the number of ranks: the parts are summands of one dot product, so they are added and not averaged."
FAILS = ("test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once", "test_any_rows")
SYMPTOMS = ("row.averaged", "row.all_averaged")


class RowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        own = x if self.input_is_parallel else _SplitFeatures.apply(x, self.group)
        out = _ReduceFromRanks.apply(functional.linear(own, self.weight), self.group)
        out = out / dist.get_world_size(self.group)
        return out if self.bias is None else out + self.bias
