"""The shard is a view, which keeps the whole weight alive on every rank."""

import torch.distributed as dist
from torch import Tensor, nn

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import Group

EXERCISE = "parallel_linear"
HINT = "Your parameter has the shape of the shard and the storage of the whole weight: a view keeps all of it alive, and nothing is saved. Clone the part."
FAILS = (
    "test_a_rank_keeps_its_shard_of_the_weight_and_nothing_else",
    "test_any_layer_communicates_what_it_must",
)
SYMPTOMS = ("more_held_than_the_shard",)


class ColumnParallelLinear(Right):
    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, group: Group = None, gather_output: bool = False
    ) -> None:
        super().__init__(weight, bias, group, gather_output)
        parts = weight.detach().tensor_split(dist.get_world_size(group))
        self.weight = nn.Parameter(parts[dist.get_rank(group)])
