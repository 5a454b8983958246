"""The gradient of x comes from the rank's own heads only."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ParallelAttention as Right
from ..tensor_parallel import _ReduceFromRanks

EXERCISE = "parallel_blocks"
HINT = "Your attention's gradient of x is that of the rank's own heads. f stands in front of the projections, as in a column-parallel layer."
FAILS = (
    "test_attention_on_ranks_is_the_whole_attention",
    "test_attention_needs_one_all_reduce_each_way",
    "test_any_attention",
)
SYMPTOMS = ("attention.gradient_not_reduced", "backward.no_all_reduce")


class ParallelAttention(Right):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            functional.linear(x, rows).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for rows in (self.query, self.key, self.value)
        )
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        partial = functional.linear(heads.transpose(1, 2).flatten(2), self.output)
        return _ReduceFromRanks.apply(partial, self.group)
