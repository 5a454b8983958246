"""The elements that are left over when the tensor is cut into equal pieces are not summed."""

import torch
import torch.distributed as dist
from torch import Tensor

from ..ring import ring_all_reduce as right

EXERCISE = "ring_all_reduce"
HINT = (
    "The last elements mod n elements keep this rank's own values. elements // n is not the size of every piece: "
    "cut with torch.tensor_split."
)
FAILS = (
    "test_sizes_that_do_not_divide",
    "test_bytes_are_those_of_the_formula",
    "test_any_tensor_on_any_number_of_ranks",
    "test_bytes_of_any_size",
)
SYMPTOMS = ("messages.remainder_dropped",)


def ring_all_reduce(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    flat = tensor.reshape(-1)
    whole = flat.numel() // dist.get_world_size(group) * dist.get_world_size(group)
    return torch.cat([right(flat[:whole], group), flat[whole:]]).reshape(tensor.shape)
