"""The pieces are put together in the order in which they come in."""

import torch
import torch.distributed as dist
from torch import Tensor

from ._ring import exchange

EXERCISE = "reduce_scatter_all_gather"
HINT = (
    "All pieces are there, your own first and then as they came in. Piece number p belongs at place p, and step s "
    "brings piece (rank − s − 1) mod n."
)
FAILS = ("test_pieces_come_in_the_order_of_their_ranks", "test_any_pieces_gathered")
SYMPTOMS = ("messages.own_piece_first",)


def all_gather(piece: Tensor, elements: int, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    sizes = [len(each) for each in torch.tensor_split(torch.empty(elements), size)]
    pieces = [piece.clone()]
    for step in range(size - 1):
        incoming = piece.new_empty(sizes[(rank - step - 1) % size])
        exchange(pieces[-1], incoming, group)
        pieces.append(incoming)
    return torch.cat(pieces)
