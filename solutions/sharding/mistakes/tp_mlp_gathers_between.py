"""The inner features are gathered between the two layers, and cut again."""

from torch import Tensor

from ..tensor_parallel import ColumnParallelLinear, Group, RowParallelLinear
from ..tensor_parallel import ParallelMLP as Right

EXERCISE = "parallel_blocks"
HINT = "Your MLP gathers its inner features and cuts them again. The first layer leaves them cut just the way that the second one takes them."
FAILS = ("test_an_mlp_needs_one_all_reduce_each_way", "test_any_mlp")
SYMPTOMS = ("forward.extra_all_gather",)


class ParallelMLP(Right):
    def __init__(
        self, up: Tensor, up_bias: Tensor | None, down: Tensor, down_bias: Tensor | None, group: Group = None
    ) -> None:
        super().__init__(up, up_bias, down, down_bias, group)
        self.up = ColumnParallelLinear(up, up_bias, group, gather_output=True)
        self.down = RowParallelLinear(down, down_bias, group, input_is_parallel=False)
