"""The first matrix is cut along its input, and GeLU is applied to parts of sums."""

from torch import Tensor, nn
from torch.nn import functional

from ..tensor_parallel import Group, _own, _ReduceFromRanks, _SplitFeatures

EXERCISE = "parallel_blocks"
HINT = "Your first matrix is cut along its input, so that a rank has a part of each sum, and GeLU of a part is not a part of GeLU. Cut it along its output."
FAILS = ("test_an_mlp_on_ranks_is_the_whole_mlp", "test_any_mlp")
SYMPTOMS = ("mlp.gelu_of_partial_sums",)


class ParallelMLP(nn.Module):
    def __init__(
        self, up: Tensor, up_bias: Tensor | None, down: Tensor, down_bias: Tensor | None, group: Group = None
    ) -> None:
        super().__init__()
        self.group = group
        self.up = nn.Linear(1, 1, up_bias is not None)
        self.up.weight = nn.Parameter(_own(up, 1, group))
        self.down = nn.Linear(1, 1, down_bias is not None)
        self.down.weight = nn.Parameter(down.detach().clone())
        if up_bias is not None and down_bias is not None:
            self.up.bias = nn.Parameter(up_bias.detach().clone())
            self.down.bias = nn.Parameter(down_bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        inside = functional.gelu(self.up(_SplitFeatures.apply(x, self.group)))
        return self.down(_ReduceFromRanks.apply(inside, self.group))
