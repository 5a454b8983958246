"""The row-parallel output stays the rank's own part of the sum."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import RowParallelLinear as Right
from ..tensor_parallel import _SplitFeatures

EXERCISE = "parallel_linear"
HINT = "Your row-parallel output is the product of the rank's own columns. What do the other ranks' products have to do with it?"
FAILS = (
    "test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once",
    "test_rows_need_one_all_reduce_forward",
    "test_any_rows",
)
SYMPTOMS = ("row.not_reduced", "forward.no_all_reduce")


class RowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        own = x if self.input_is_parallel else _SplitFeatures.apply(x, self.group)
        return functional.linear(own, self.weight, self.bias)
