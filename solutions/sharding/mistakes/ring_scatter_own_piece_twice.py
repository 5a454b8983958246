"""The sum that comes home gets the rank's own piece once more."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring import reduce_scatter as right

EXERCISE = "reduce_scatter_all_gather"
HINT = (
    "Your own share is in your piece twice. Each rank adds its share once, when the piece comes by; the last of them "
    "is you."
)
FAILS = ("test_each_rank_gets_its_piece_of_the_sum", "test_any_piece_of_any_sum")
SYMPTOMS = ("messages.own_piece_twice",)


def reduce_scatter(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    piece = right(tensor, group)
    return piece if size == 1 else piece + torch.tensor_split(tensor.reshape(-1), size)[rank]
