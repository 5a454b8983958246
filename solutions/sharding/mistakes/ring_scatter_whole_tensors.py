"""Whole tensors are passed round, and each rank keeps its piece of their sum."""

import torch
import torch.distributed as dist
from torch import Tensor

from ._ring import exchange

EXERCISE = "reduce_scatter_all_gather"
HINT = (
    "Your piece is right, and each rank sends n − 1 whole tensors for it. Of a tensor only the pieces of the other "
    "ranks need to leave, each once: (n − 1)/n of it."
)
FAILS = ("test_each_half_sends_half_the_bytes", "test_any_piece_of_any_sum")
SYMPTOMS = ("messages.more_bytes",)


def reduce_scatter(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.reshape(-1).clone()
    passing = total.clone()
    for _ in range(size - 1):
        incoming = torch.empty_like(passing)
        exchange(passing, incoming, group)
        passing = incoming
        total += incoming
    return torch.tensor_split(total, size)[rank].clone()
