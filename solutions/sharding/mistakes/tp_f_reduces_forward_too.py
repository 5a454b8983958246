"""f all-reduces x on the way in as well as its gradient on the way back."""

from torch import Tensor

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import _ReduceFromRanks

EXERCISE = "parallel_linear"
HINT = "Your column-parallel layer adds x up over the ranks before it multiplies. x is whole on every rank already: f does nothing forward."
FAILS = (
    "test_a_column_parallel_layer_gives_every_rank_its_features",
    "test_columns_need_one_all_reduce_backward",
    "test_any_columns",
)
SYMPTOMS = ("column.input_summed", "forward.extra_all_reduce")


class ColumnParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(_ReduceFromRanks.apply(x, self.group))
