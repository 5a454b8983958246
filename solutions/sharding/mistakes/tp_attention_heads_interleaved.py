"""Rows of the projections are taken as if head i were every so manieth row."""

from torch import Tensor
from torch.nn import functional

from ..tensor_parallel import ParallelAttention as Right
from ..tensor_parallel import _CopyToRanks, _ReduceFromRanks

EXERCISE = "parallel_blocks"
HINT = "Your heads are made of the wrong rows: head i is rows i·D to (i + 1)·D, so split the last dimension into (heads, D) and not into (D, heads)."
FAILS = ("test_attention_on_ranks_is_the_whole_attention", "test_any_attention")
SYMPTOMS = ("attention.heads_interleaved",)


class ParallelAttention(Right):
    def forward(self, x: Tensor) -> Tensor:
        x = _CopyToRanks.apply(x, self.group)
        q, k, v = (
            functional.linear(x, rows).unflatten(-1, (self.head_dim, -1)).permute(0, 3, 1, 2)
            for rows in (self.query, self.key, self.value)
        )
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        partial = functional.linear(heads.permute(0, 2, 3, 1).flatten(2), self.output)
        return _ReduceFromRanks.apply(partial, self.group)
