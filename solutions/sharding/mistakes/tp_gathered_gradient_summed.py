"""The gradient of a gathered output is added up over the ranks before it is cut."""

from torch import Tensor

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import _CopyToRanks

EXERCISE = "parallel_linear"
HINT = "Gradients are too large by the number of ranks where the output is gathered. Every rank gets the same whole gradient: take your own features of it, and add nothing up."
FAILS = (
    "test_a_gathered_output_is_whole_and_its_gradient_is_not_summed",
    "test_columns_need_one_all_reduce_backward",
)
SYMPTOMS = ("column.gather_sums_gradients", "column.gradient_times_ranks", "backward.extra_all_reduce")


class ColumnParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        out = super().forward(x)
        return _CopyToRanks.apply(out, self.group) if self.gather_output else out
