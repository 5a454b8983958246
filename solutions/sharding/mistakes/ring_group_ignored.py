"""The ring is made of all ranks, whatever the group."""

import torch.distributed as dist
from torch import Tensor

from ..ring import ring_all_reduce as right

EXERCISE = "ring_all_reduce"
HINT = (
    "In a group of some ranks your ring waits for ranks that do not take part. Pass group to every call: "
    "dist.get_rank(group), dist.get_world_size(group), and to each send and receive."
)
FAILS = ("test_a_group_of_some_ranks", "test_any_group")
SYMPTOMS = ("ranks.deadlock",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    return right(tensor, None)
