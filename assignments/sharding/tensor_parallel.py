# %% [markdown]
# # Tensor parallelism: a matrix in slices
#
# Section 6 of the handout: which way each matrix is cut, what f and g are, and which collectives that costs.
#
# Every part is cut as `torch.tensor_split` cuts: of a size that the ranks do not divide, the first ranks hold one
# more. `group` is a process group, None for the default one; its collectives are those of `torch.distributed`.

# %%
"""Tensor parallelism as in Megatron-LM: column- and row-parallel layers, the MLP and attention made of them."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

Group = dist.ProcessGroup | None


# %%
class ColumnParallelLinear(nn.Module):
    """y = x·Wᵀ + b with the output's features cut over the ranks: each rank holds some rows of W and of b.

    (In Megatron's paper Y = X·A, and these rows of W = Aᵀ are columns of A: hence the name.)

    Args:
        weight: the whole W, (out, in), the same on every rank.
        bias: the whole b, (out,), or None.
        group: the ranks that share the layer.
        gather_output: False, the output stays cut; True, every rank returns all of it.

    Parameters `weight` and `bias` (None without one) are this rank's rows, `tensor_split(n)[rank]`, in a storage
    of their own: a view would keep all of W alive. The layer keeps nothing else of W. The arguments stay as
    they are.

    forward(x): x is (..., in), the same on every rank; the result is (..., out of this rank), or (..., out) when
    gathered. Gradients are those of the whole layer: of x the whole gradient, on every rank; of weight and
    bias those of the rows that the rank holds. When gathered, the gradient that arrives is whole and the same
    on every rank.

    Collectives: forward none, backward one all-reduce, of the gradient of x (Megatron's f: identity forward,
    all-reduce backward; write it as a torch.autograd.Function). Gathering adds one all-gather forward and
    nothing backward. gloo gathers equal sizes only: pad to the longest part and cut it off again. Neither x
    nor an arriving gradient may be changed in place.

    Source: Megatron-LM (Shoeybi et al. 2019), section 3.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, group: Group = None, gather_output: bool = False
    ) -> None:
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("write me")


# %%
class RowParallelLinear(nn.Module):
    """y = x·Wᵀ + b with the input's features cut over the ranks: each rank holds some columns of W.

    Args:
        weight: the whole W, (out, in), the same on every rank.
        bias: the whole b, (out,), or None.
        group: the ranks that share the layer.
        input_is_parallel: True, x comes cut, as a ColumnParallelLinear leaves it; False, x is whole and the
            same on every rank, and each rank takes its own features of it.

    Parameters: `weight` is this rank's columns, `tensor_split(n, dim=1)[rank]`, in a storage of its own, and
    `bias` is whole on every rank. The layer keeps nothing else of W. The arguments stay as they are.

    forward(x): x is (..., in of this rank), or (..., in) when it is not parallel; the result is (..., out), whole
    and the same on every rank. The gradient that arrives is the same on every rank too. Gradients are those of
    the whole layer: of x in the shape of x, of weight those of the columns that the rank holds, of bias the
    whole gradient, on every rank.

    Collectives: forward one all-reduce, of the output; backward none (Megatron's g: all-reduce forward,
    identity backward). Each rank has only a part of the sum, so the bias belongs behind it. With an input that
    is not parallel, one all-gather backward, of the gradient of x (padded as in ColumnParallelLinear).
    Neither x nor an arriving gradient may be changed in place.

    Source: Megatron-LM (Shoeybi et al. 2019), section 3.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, group: Group = None, input_is_parallel: bool = True
    ) -> None:
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("write me")


# %%
class ParallelMLP(nn.Module):
    """down(GeLU(up(x))) on several ranks, with one all-reduce forward and one backward.

    Args:
        up, up_bias: the whole first matrix, (inner, hidden), and its bias, (inner,) or None.
        down, down_bias: the whole second matrix, (hidden, inner), and its bias, (hidden,) or None.
        group: the ranks that share the MLP.

    Submodules `up` and `down` are the two layers, so that parameters are called up.weight, up.bias, down.weight
    and down.bias; each rank keeps its shard of them only, as in the layers. GeLU is the exact one,
    `torch.nn.functional.gelu(x)`, between them. It is not linear: no rank may apply it to a partial sum.

    forward(x): x is (..., hidden), the same on every rank, and so is the result. The inner features are cut over
    the ranks, and never gathered. Gradients are those of the whole MLP, as in the layers.

    Source: Megatron-LM (Shoeybi et al. 2019), section 3, figure 3a.
    """

    def __init__(
        self,
        up: Tensor,
        up_bias: Tensor | None,
        down: Tensor,
        down_bias: Tensor | None,
        group: Group = None,
    ) -> None:
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("write me")


# %%
class ParallelAttention(nn.Module):
    """Causal self-attention with its heads cut over the ranks, with one all-reduce forward and one backward.

    Args:
        query, key, value: the whole projections, each (heads·D, hidden); head i is rows i·D to (i + 1)·D. There are
            no biases.
        output: the whole output projection, (hidden, heads·D).
        heads: the number of heads, as many for keys and values as for queries.
        group: the ranks that share the heads. Heads are cut as `tensor_split` cuts, never through a head: 5
            heads on 2 ranks are heads 0 to 2 and heads 3 to 4.

    Raises:
        ValueError: there are fewer heads than ranks.

    Parameters `query`, `key`, `value` and `output` are what the rank's heads need of each: rows of the first three,
    columns of the last, in storages of their own.

    forward(x): x is (batch, T, hidden), the same on every rank, and so is the result:
    softmax(Q·Kᵀ/√D + causal mask)·V for each head, the heads side by side, times outputᵀ. Gradients are those of
    the whole attention. x is read three times and its gradient is summed over the ranks once: one f in front of
    all three projections. torch's scaled_dot_product_attention may be used.

    Source: Megatron-LM (Shoeybi et al. 2019), section 3, figure 3b.
    """

    def __init__(
        self, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int, group: Group = None
    ) -> None:
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("write me")


# %%
class SequenceColumnParallelLinear(nn.Module):
    """A ColumnParallelLinear whose input comes cut by tokens: sequence parallelism's way into a layer.

    Args, and the parameters `weight` and `bias`: as in ColumnParallelLinear.

    forward(x): x is (..., T/n, in), the rank's tokens (rank 0 has the first), as many on every rank; the result is
    (..., T, out of this rank). Gradients: of x those of the rank's own tokens, summed over all ranks; of weight
    and bias those of the rows that the rank holds, over all tokens.

    Collectives: forward one all-gather of x, backward one reduce-scatter of its gradient, which puts T tokens in and
    gets T/n out; together they are f's all-reduce, split in two. To keep less, x may be gathered once more
    backward, as Megatron does: one more all-gather of the same size is accepted.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.2.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None, group: Group = None) -> None:
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("write me")


# %%
class SequenceRowParallelLinear(nn.Module):
    """A RowParallelLinear whose output leaves cut by tokens: sequence parallelism's way out of a layer.

    Args, and the parameters `weight` and `bias`: as in RowParallelLinear, with an input that is parallel.

    forward(x): x is (..., T, in of this rank); the result is (..., T/n, out), the rank's own tokens of the sum over
    the ranks, plus the bias. Gradients: of x and weight those of all tokens; of bias those of the rank's own tokens:
    the ranks' gradients of the bias add up to the whole, which the caller does for all such parameters at once.

    Raises:
        ValueError: the ranks do not divide T; raised by forward, on every rank.

    Collectives: forward one reduce-scatter of the output, backward one all-gather of its gradient.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.2.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None, group: Group = None) -> None:
        raise NotImplementedError("write me")

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError("write me")
