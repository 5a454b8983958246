"""Rank 0 receives everything, adds it up and sends it back."""

import torch
import torch.distributed as dist
from torch import Tensor

EXERCISE = "ring_all_reduce"
HINT = (
    "The sum is right, and all of it goes through one rank: its link carries n − 1 tensors each way while the others "
    "idle. In a ring every rank sends 2 (n − 1)/n of a tensor, to its neighbour."
)
FAILS = (
    "test_messages_go_to_one_neighbour",
    "test_bytes_are_those_of_the_formula",
    "test_any_tensor_on_any_number_of_ranks",
    "test_bytes_of_any_size",
)
SYMPTOMS = ("messages.one_rank_sends_most", "messages.not_neighbours")


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    if rank == 0:
        for other in range(1, size):
            received = torch.empty_like(total)
            dist.recv(received, group=group, group_src=other)
            total += received
        for other in range(1, size):
            dist.send(total, group=group, group_dst=other)
    else:
        dist.send(total, group=group, group_dst=0)
        dist.recv(total, group=group, group_src=0)
    return total
