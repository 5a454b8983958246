"""g all-reduces the gradient on the way back as well as the output on the way out."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import RowParallelLinear as Right
from ..tensor_parallel import _CopyToRanks, _ReduceFromRanks, _SplitFeatures

EXERCISE = "parallel_linear"
HINT = "Your row-parallel layer adds the arriving gradient up over the ranks, where it is whole on every rank already. Which of f and g does nothing backward?"
FAILS = (
    "test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once",
    "test_rows_need_one_all_reduce_forward",
    "test_any_rows",
)
SYMPTOMS = ("row.gradient_times_ranks", "backward.extra_all_reduce")


class RowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        own = x if self.input_is_parallel else _SplitFeatures.apply(x, self.group)
        partial = functional.linear(own, self.weight)
        out = _ReduceFromRanks.apply(_CopyToRanks.apply(partial, self.group), self.group)
        return out if self.bias is None else out + self.bias
