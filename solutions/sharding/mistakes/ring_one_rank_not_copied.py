"""A group of one gets its own tensor back, and not a copy."""

import torch.distributed as dist
from torch import Tensor

from ..ring import ring_all_reduce as right

EXERCISE = "ring_all_reduce"
HINT = (
    "With one rank there is nothing to send, and still the result must be a tensor of its own: who writes into it "
    "would change the input."
)
FAILS = ("test_a_group_of_one_gets_a_copy",)
SYMPTOMS = ("messages.same_memory",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    return tensor if dist.get_world_size(group) == 1 else right(tensor, group)
