"""The library's all_gather does the work."""

import torch
import torch.distributed as dist
from torch import Tensor

EXERCISE = "reduce_scatter_all_gather"
HINT = "dist.all_gather is what you are writing: out of send and receive alone."
FAILS = ("test_each_half_sends_half_the_bytes", "test_any_pieces_gathered")
SYMPTOMS = ("messages.collective",)


def all_gather(piece: Tensor, elements: int, group: dist.ProcessGroup | None = None) -> Tensor:
    size = dist.get_world_size(group)
    gathered = torch.empty(elements, dtype=piece.dtype)
    if size == 1:
        return gathered.copy_(piece)
    dist.all_gather(list(torch.tensor_split(gathered, size)), piece, group=group)
    return gathered
