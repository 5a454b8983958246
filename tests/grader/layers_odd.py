"""Odd answers to the exercises of layers on ranks: none of them is right, and none may upset the grader."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class ColumnParallelLinear(nn.Module):
    """An output on which nothing depends, and parameters of no dimension."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(1.0))
        self.bias = nn.Parameter(torch.zeros(0, 3, 0))

    def forward(self, x: Tensor) -> Tensor:
        return torch.full((2, 3, 6), torch.nan)


class RowParallelLinear:
    """No module at all."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, x: Tensor) -> Tensor:
        return x


class ParallelMLP(nn.Module):
    """A dictionary for an output; another collective on every rank after it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Any:
        return {"output": x}


class ParallelAttention(nn.Module):
    """Writes to all that it is given."""

    def __init__(self, query: Tensor, *_: Any, group: Any = None) -> None:
        super().__init__()
        query.zero_()
        self.query = nn.Parameter(query)

    def forward(self, x: Tensor) -> Tensor:
        x.data.zero_()
        return x * self.query.sum()


class SequenceColumnParallelLinear(nn.Module):
    """Ranks that disagree."""

    def __init__(self, *_: Any, group: Any = None) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        dist.all_reduce(x.detach()) if dist.get_rank() else dist.barrier()
        return x


class SequenceRowParallelLinear(nn.Module):
    """An integer output, of a size below nothing."""

    def __init__(self, *_: Any, group: Any = None) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros(2, 3, -8)


def zigzag_positions(tokens: int, ranks: int, rank: int) -> Any:
    return list(range(tokens))


def ring_attention(q: Tensor, *_: Any, **__: Any) -> Any:
    """Lists for tensors."""
    return q.tolist(), None
