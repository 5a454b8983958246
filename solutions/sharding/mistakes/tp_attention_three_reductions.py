"""Each of the three projections has an f of its own."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ParallelAttention as Right
from ..tensor_parallel import _CopyToRanks, _ReduceFromRanks

EXERCISE = "parallel_blocks"
HINT = "Your attention sums the gradient of x over the ranks three times, once for each projection. Send x through f once, and give the result to all three: autograd adds their gradients before f sees them."
FAILS = ("test_attention_needs_one_all_reduce_each_way", "test_any_attention")
SYMPTOMS = ("backward.extra_all_reduce",)


class ParallelAttention(Right):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            functional.linear(_CopyToRanks.apply(x, self.group), rows)
            .unflatten(-1, (-1, self.head_dim))
            .transpose(1, 2)
            for rows in (self.query, self.key, self.value)
        )
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        partial = functional.linear(heads.transpose(1, 2).flatten(2), self.output)
        return _ReduceFromRanks.apply(partial, self.group)
