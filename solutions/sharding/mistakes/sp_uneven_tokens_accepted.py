"""Tokens that the ranks do not divide are cut unevenly, without a word."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import SequenceRowParallelLinear as Right
from ..tensor_parallel import _ScatterTokens

EXERCISE = "sequence_parallel_linear"
HINT = "Your way out cuts 7 tokens on 2 ranks into 4 and 3. The next layer gathers equal parts: raise a ValueError where the ranks do not divide the tokens."
FAILS = ("test_tokens_that_the_ranks_do_not_divide_are_refused",)
SYMPTOMS = ("not_refused",)


class SequenceRowParallelLinear(Right):
    def forward(self, x: Tensor) -> Tensor:
        out = _ScatterTokens.apply(functional.linear(x, self.weight), self.group)
        return out if self.bias is None else out + self.bias
