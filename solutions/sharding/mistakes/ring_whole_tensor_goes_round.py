"""Every rank passes on whole tensors, n − 1 times."""

import torch
import torch.distributed as dist
from torch import Tensor

from ._ring import exchange

EXERCISE = "ring_all_reduce"
HINT = (
    "The sum is right, and each rank sends n − 1 whole tensors for it, where 2 (n − 1)/n of one are enough: cut the "
    "tensor into n pieces first."
)
FAILS = ("test_bytes_are_those_of_the_formula", "test_bytes_of_any_size")
SYMPTOMS = ("messages.more_bytes",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    total = tensor.clone(memory_format=torch.contiguous_format)
    passing = total.clone()
    for _ in range(dist.get_world_size(group) - 1):
        incoming = torch.empty_like(passing)
        exchange(passing, incoming, group)
        passing = incoming
        total += incoming
    return total
