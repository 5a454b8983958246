"""A rank adds its own part of a piece once more when the sum comes home."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring import all_gather, reduce_scatter

EXERCISE = "ring_all_reduce"
HINT = (
    "One rank's share is in every piece twice. What a rank receives is added to its own piece; the sum that comes out "
    "has everybody's share, its own too."
)
FAILS = ("test_every_rank_gets_the_sum", "test_any_tensor_on_any_number_of_ranks")
SYMPTOMS = ("messages.own_piece_twice",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    own = torch.tensor_split(tensor.reshape(-1), size)[rank]
    piece = reduce_scatter(tensor, group)
    if size > 1:
        piece = piece + own
    return all_gather(piece, tensor.numel(), group).view(tensor.shape)
