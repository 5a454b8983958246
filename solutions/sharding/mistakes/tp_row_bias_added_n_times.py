"""Every rank adds the bias to its part of the sum, so that it comes in n times."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import RowParallelLinear as Right
from ..tensor_parallel import _ReduceFromRanks, _SplitFeatures

EXERCISE = "parallel_linear"
HINT = "Your row-parallel output has the bias in it once for each rank. Each rank has a part of the sum: the bias belongs behind the all-reduce."
FAILS = (
    "test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once",
    "test_what_the_ranks_do_not_divide_is_cut_unevenly",
    "test_any_rows",
)
SYMPTOMS = ("row.bias_times_ranks",)


class RowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        own = x if self.input_is_parallel else _SplitFeatures.apply(x, self.group)
        return _ReduceFromRanks.apply(functional.linear(own, self.weight, self.bias), self.group)
