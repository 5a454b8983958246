"""GeLU by its tanh approximation."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ParallelMLP as Right

EXERCISE = "parallel_blocks"
HINT = "Your GeLU is the approximation by tanh. It is off by up to a thousandth; the exact one is gelu(x) without `approximate`."
FAILS = ("test_an_mlp_on_ranks_is_the_whole_mlp", "test_any_mlp")
SYMPTOMS = ("mlp.gelu_by_tanh",)


class ParallelMLP(Right):
    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x), approximate="tanh"))
