"""Every rank takes out // n rows; those that are left over belong to nobody."""

import torch.distributed as dist
from torch import Tensor

from ..tensor_parallel import ColumnParallelLinear as Right
from ..tensor_parallel import Group

EXERCISE = "parallel_linear"
HINT = "Your ranks hold out // n rows each, and where n does not divide out some rows are nobody's. torch.tensor_split gives the first ranks one more."
FAILS = ("test_what_the_ranks_do_not_divide_is_cut_unevenly",)
SYMPTOMS = ("remainder_dropped",)


class ColumnParallelLinear(Right):
    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, group: Group = None, gather_output: bool = False
    ) -> None:
        even = len(weight) // dist.get_world_size(group) * dist.get_world_size(group)
        super().__init__(weight[:even], None if bias is None else bias[:even], group, gather_output)
