"""Every token looks at all tokens."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ParallelAttention as Right
from ..tensor_parallel import _CopyToRanks, _ReduceFromRanks

EXERCISE = "parallel_blocks"
HINT = "Your attention looks at later tokens. The mask has nothing to do with the cut: each head is causal on its rank."
FAILS = ("test_attention_on_ranks_is_the_whole_attention", "test_any_attention")
SYMPTOMS = ("attention.not_causal",)


class ParallelAttention(Right):
    def forward(self, x: Tensor) -> Tensor:
        x = _CopyToRanks.apply(x, self.group)
        q, k, v = (
            functional.linear(x, rows).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for rows in (self.query, self.key, self.value)
        )
        heads = functional.scaled_dot_product_attention(q, k, v)
        partial = functional.linear(heads.transpose(1, 2).flatten(2), self.output)
        return _ReduceFromRanks.apply(partial, self.group)
