"""The library's all_reduce does the work."""

import torch
import torch.distributed as dist
from torch import Tensor

EXERCISE = "ring_all_reduce"
HINT = "dist.all_reduce is what you are writing: out of send and receive between neighbours."
FAILS = (
    "test_messages_go_to_one_neighbour",
    "test_bytes_are_those_of_the_formula",
    "test_any_tensor_on_any_number_of_ranks",
    "test_bytes_of_any_size",
)
SYMPTOMS = ("messages.collective",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    total = tensor.clone(memory_format=torch.contiguous_format)
    if dist.get_world_size(group) > 1:
        dist.all_reduce(total, group=group)
    return total
