"""Rank r ends up with piece r + 1, as in the textbook's ring."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring import reduce_scatter as right
from ._ring import exchange

EXERCISE = "reduce_scatter_all_gather"
HINT = (
    "Your pieces are right, and each is one rank off. Where a rank first sends its own piece, the last one to come in "
    "is number r + 1: start with piece r − 1."
)
FAILS = ("test_each_rank_gets_its_piece_of_the_sum", "test_any_piece_of_any_sum")
SYMPTOMS = ("messages.next_piece",)


def reduce_scatter(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    if size == 1:
        return right(tensor, group)
    pieces = [piece.clone() for piece in torch.tensor_split(tensor.reshape(-1), size)]
    for step in range(size - 1):
        incoming = torch.empty_like(pieces[(rank - step - 1) % size])
        exchange(pieces[(rank - step) % size], incoming, group)
        pieces[(rank - step - 1) % size] += incoming
    return pieces[(rank + 1) % size]
