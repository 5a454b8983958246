"""The reduce-scatter goes round in n − 2 steps."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring import all_gather
from ._ring import exchange

EXERCISE = "ring_all_reduce"
HINT = (
    "One rank's share is missing in every piece: a piece that starts at one rank needs n − 1 steps to have met the "
    "n − 1 others."
)
FAILS = ("test_every_rank_gets_the_sum", "test_any_tensor_on_any_number_of_ranks")
SYMPTOMS = ("messages.one_step_short",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    pieces = [piece.clone() for piece in torch.tensor_split(tensor.reshape(-1), size)]
    for step in range(size - 2):
        incoming = torch.empty_like(pieces[(rank - step - 2) % size])
        exchange(pieces[(rank - step - 1) % size], incoming, group)
        pieces[(rank - step - 2) % size] += incoming
    return all_gather(pieces[rank], tensor.numel(), group).view(tensor.shape)
