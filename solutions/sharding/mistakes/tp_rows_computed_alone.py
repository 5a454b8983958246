"""The input is gathered and every rank computes the whole layer alone."""

from torch import Tensor, nn
from torch.nn import functional

from ..tensor_parallel import Group, _GatherFeatures
from ..tensor_parallel import RowParallelLinear as Right

EXERCISE = "parallel_linear"
HINT = "Your row-parallel layer gathers its input and multiplies by the whole weight on every rank: nothing is parallel, and nothing is saved. Multiply what you have by your own columns, and add up the outputs."
FAILS = (
    "test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once",
    "test_rows_need_one_all_reduce_forward",
    "test_a_rank_keeps_its_shard_of_the_weight_and_nothing_else",
)
SYMPTOMS = ("forward.all_gather_for_all_reduce", "whole_parameter_kept")


class RowParallelLinear(Right):
    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, group: Group = None, input_is_parallel: bool = True
    ) -> None:
        super().__init__(weight, bias, group, input_is_parallel)
        self.weight = nn.Parameter(weight.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        if self.input_is_parallel:
            x = _GatherFeatures.apply(x, self.weight.shape[1], self.group)
        return functional.linear(x, self.weight, self.bias)
