"""The way out adds the bias before the sum over the ranks."""

import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import SequenceRowParallelLinear as Right
from ..tensor_parallel import _ScatterTokens

EXERCISE = "sequence_parallel_linear"
HINT = "The bias comes in once for each rank: it stands before the reduce-scatter. Add it to the rank's tokens behind it."
FAILS = ("test_sums_are_scattered_on_the_way_out", "test_any_way_out")
SYMPTOMS = ("sequence.bias_times_ranks",)


class SequenceRowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-2] % dist.get_world_size(self.group):
            raise ValueError("the ranks do not divide the tokens")
        return _ScatterTokens.apply(functional.linear(x, self.weight, self.bias), self.group)
