"""The result stays flattened."""

import torch.distributed as dist
from torch import Tensor

from ..ring import ring_all_reduce as right

EXERCISE = "ring_all_reduce"
HINT = "Your result is flat. Give it the shape of the input at the end: .view(tensor.shape)."
FAILS = ("test_every_rank_gets_the_sum", "test_any_strides_and_formats", "test_a_group_of_one_gets_a_copy")
SYMPTOMS = ("messages.shape",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    return right(tensor, group).reshape(-1)
