"""A rank without a head gets empty parameters instead of a refusal."""

import torch
from torch import Tensor, nn

from ..tensor_parallel import Group, _own, _ReduceFromRanks
from ..tensor_parallel import ParallelAttention as Right

EXERCISE = "parallel_blocks"
HINT = "With fewer heads than ranks some ranks have nothing to do, and your layer says nothing. Raise a ValueError that names both numbers."
FAILS = ("test_fewer_heads_than_ranks_are_refused",)
SYMPTOMS = ("not_refused",)


class ParallelAttention(Right):
    def __init__(
        self, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int, group: Group = None
    ) -> None:
        nn.Module.__init__(self)
        self.group, self.head_dim = group, len(query) // heads

        def own_heads(rows: Tensor) -> nn.Parameter:
            return nn.Parameter(_own(rows.unflatten(0, (heads, -1)), 0, group).flatten(0, 1))

        self.query, self.key, self.value = own_heads(query), own_heads(key), own_heads(value)
        self.output = nn.Parameter(_own(output.unflatten(1, (heads, -1)), 1, group).flatten(1))

    def forward(self, x: Tensor) -> Tensor:
        if len(self.query):
            return super().forward(x)
        return _ReduceFromRanks.apply(torch.zeros_like(x), self.group)
