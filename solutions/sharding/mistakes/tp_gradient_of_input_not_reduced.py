"""The gradient of x stays the rank's own part: f is missing."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import _GatherFeatures

EXERCISE = "parallel_linear"
HINT = "Each rank's rows give a part of the gradient of x only, and nothing adds the parts up. Which of f and g does that, and where does it stand?"
FAILS = (
    "test_a_column_parallel_layer_gives_every_rank_its_features",
    "test_columns_need_one_all_reduce_backward",
    "test_any_columns",
)
SYMPTOMS = ("column.gradient_not_reduced", "backward.no_all_reduce")


class ColumnParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        out = functional.linear(x, self.weight, self.bias)
        return _GatherFeatures.apply(out, self.out_features, self.group) if self.gather_output else out
