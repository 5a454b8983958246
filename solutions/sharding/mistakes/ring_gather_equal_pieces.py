"""Every piece is taken to be as large as this rank's own."""

import torch
import torch.distributed as dist
from torch import Tensor

from ._ring import exchange

EXERCISE = "reduce_scatter_all_gather"
HINT = (
    "You receive into a buffer of your own piece's size, and another rank's piece may have one element more or less. "
    "The sizes follow from `elements`: those of torch.tensor_split."
)
FAILS = ("test_ragged_and_empty_pieces",)
SYMPTOMS = ("ranks.mismatch",)


def all_gather(piece: Tensor, elements: int, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    pieces = [torch.empty_like(piece) for _ in range(size)]
    pieces[rank].copy_(piece)
    for step in range(size - 1):
        exchange(pieces[(rank - step) % size], pieces[(rank - step - 1) % size], group)
    return torch.cat(pieces)
