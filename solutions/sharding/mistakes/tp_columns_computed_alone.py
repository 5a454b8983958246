"""Every rank keeps the whole weight, computes all features and hands out its own."""

from torch import Tensor, nn
from torch.nn import functional

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import Group, _SplitFeatures

EXERCISE = "parallel_linear"
HINT = "Your column-parallel layer keeps the whole weight and computes every feature on every rank, to throw most of them away. Keep and multiply the rank's own rows only."
FAILS = (
    "test_a_column_parallel_layer_gives_every_rank_its_features",
    "test_a_rank_keeps_its_shard_of_the_weight_and_nothing_else",
    "test_any_columns",
)
SYMPTOMS = ("whole_parameter_kept", "backward.all_gather_for_all_reduce")


class ColumnParallelLinear(Right):
    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, group: Group = None, gather_output: bool = False
    ) -> None:
        super().__init__(weight, bias, group, gather_output)
        self.weight = nn.Parameter(weight.detach().clone())
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        out = functional.linear(x, self.weight, self.bias)
        return out if self.gather_output else _SplitFeatures.apply(out, self.group)
