"""Gathered tokens lie in the order first of every rank, second of every rank."""

import torch.distributed as dist
from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import SequenceColumnParallelLinear as Right
from ..tensor_parallel import _GatherTokens

EXERCISE = "sequence_parallel_linear"
HINT = "Your gathered tokens are in the wrong order: rank 0 has the first T/n of them, rank 1 the next. Concatenate along the tokens; a stack that is flattened the wrong way deals them out like cards."
FAILS = ("test_tokens_are_gathered_on_the_way_in", "test_any_way_in")
SYMPTOMS = ("sequence.tokens_interleaved",)


class SequenceColumnParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        ranks = dist.get_world_size(self.group)
        whole = (
            _GatherTokens.apply(x, self.group).unflatten(-2, (ranks, -1)).transpose(-3, -2).flatten(-3, -2)
        )
        return functional.linear(whole, self.weight, self.bias)
