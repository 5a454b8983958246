"""The input is overwritten with the sum."""

import torch.distributed as dist
from torch import Tensor

from ..ring import ring_all_reduce as right

EXERCISE = "ring_all_reduce"
HINT = (
    "The sum is right, and your input is gone: reshape and tensor_split give views of it, and += writes into them. "
    "Clone the pieces before the first step."
)
FAILS = ("test_every_rank_gets_the_sum", "test_any_tensor_on_any_number_of_ranks")
SYMPTOMS = ("messages.input_changed",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    total = right(tensor, group)
    tensor.copy_(total)
    return total
