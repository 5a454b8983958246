"""Every rank takes heads // n heads; those that are left over belong to nobody."""

import torch.distributed as dist
from torch import Tensor

from ..tensor_parallel import Group
from ..tensor_parallel import ParallelAttention as Right

EXERCISE = "parallel_blocks"
HINT = "Your ranks take heads // n heads each, and where n does not divide them some heads are nobody's. The first ranks take one more."
FAILS = ("test_attention_on_ranks_is_the_whole_attention",)
SYMPTOMS = ("remainder_dropped",)


class ParallelAttention(Right):
    def __init__(
        self, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int, group: Group = None
    ) -> None:
        ranks, width = dist.get_world_size(group), len(query) // heads
        even = heads // ranks * ranks
        rows = (each[: even * width] for each in (query, key, value))
        super().__init__(*rows, output[:, : even * width], even, group)
