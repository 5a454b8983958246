"""What comes in replaces the piece, and is not added to it."""

import torch
import torch.distributed as dist
from torch import Tensor

from ._ring import exchange

EXERCISE = "reduce_scatter_all_gather"
HINT = (
    "Your result is another rank's piece as it was at the start: what comes in must be added to your own piece. "
    "Receive into a tensor of its own, then add."
)
FAILS = ("test_each_rank_gets_its_piece_of_the_sum", "test_any_piece_of_any_sum")
SYMPTOMS = ("messages.overwritten",)


def reduce_scatter(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    pieces = [piece.clone() for piece in torch.tensor_split(tensor.reshape(-1), size)]
    for step in range(size - 1):
        exchange(pieces[(rank - step - 1) % size], pieces[(rank - step - 2) % size], group)
    return pieces[rank]
