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


# %% tags=["instructor"]
def _own(tensor: Tensor, dim: int, group: Group) -> Tensor:
    """This rank's part along `dim`, in a storage of its own: a view would keep the whole tensor alive."""
    part = tensor.detach().tensor_split(dist.get_world_size(group), dim)[dist.get_rank(group)]
    return part.clone(memory_format=torch.contiguous_format)


def _summed(partial: Tensor, group: Group) -> Tensor:
    """The sum over the ranks. Not in place: autograd may hand the same gradient to someone else."""
    total = partial.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return total


def _gathered(part: Tensor, dim: int, whole: int, group: Group) -> Tensor:
    """All ranks' parts along `dim`, `whole` long together; padded on the way, since gloo gathers equal sizes only."""
    lengths = [len(each) for each in torch.arange(whole).tensor_split(dist.get_world_size(group))]
    part = part.movedim(dim, 0)
    padded = part.new_zeros(lengths[0], *part.shape[1:])
    padded[: len(part)] = part
    parts = [torch.empty_like(padded) for _ in lengths]
    dist.all_gather(parts, padded, group=group)
    cut = [each[:length] for each, length in zip(parts, lengths, strict=True)]
    return torch.cat(cut).movedim(0, dim)


def _scattered_sum(partial: Tensor, dim: int, group: Group) -> Tensor:
    """This rank's part, along `dim`, of the sum over the ranks."""
    parts = [each.contiguous() for each in partial.tensor_split(dist.get_world_size(group), dim)]
    own = torch.empty_like(parts[dist.get_rank(group)])
    dist.reduce_scatter(own, parts, group=group)
    return own


class _CopyToRanks(torch.autograd.Function):
    """f: nothing forward, all-reduce backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _summed(grad, ctx.group), None


class _ReduceFromRanks(torch.autograd.Function):
    """g: all-reduce forward, nothing backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        return _summed(x, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad, None


class _GatherFeatures(torch.autograd.Function):
    """All-gather of the last dimension forward, this rank's part of the gradient backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, whole: int, group: Group) -> Tensor:
        ctx.group = group
        return _gathered(x, -1, whole, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _own(grad, -1, ctx.group), None, None


class _SplitFeatures(torch.autograd.Function):
    """This rank's part of the last dimension forward, all-gather of the gradient backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group, ctx.whole = group, x.shape[-1]
        return _own(x, -1, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _gathered(grad, -1, ctx.whole, ctx.group), None


class _GatherTokens(torch.autograd.Function):
    """All-gather of the tokens forward, reduce-scatter of the gradient backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group = group
        return _gathered(x, -2, x.shape[-2] * dist.get_world_size(group), group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _scattered_sum(grad, -2, ctx.group), None


class _ScatterTokens(torch.autograd.Function):
    """Reduce-scatter of the tokens forward, all-gather of the gradient backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        ctx.group, ctx.whole = group, x.shape[-2]
        return _scattered_sum(x, -2, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _gathered(grad, -2, ctx.whole, ctx.group), None


# %% nbgrader={"grade": false, "grade_id": "sharding.ColumnParallelLinear", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
        ### BEGIN SOLUTION
        super().__init__()
        self.group, self.gather_output, self.out_features = group, gather_output, len(weight)
        self.weight = nn.Parameter(_own(weight, 0, group))
        self.bias = None if bias is None else nn.Parameter(_own(bias, 0, group))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        out = functional.linear(_CopyToRanks.apply(x, self.group), self.weight, self.bias)
        return _GatherFeatures.apply(out, self.out_features, self.group) if self.gather_output else out
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.RowParallelLinear", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
        ### BEGIN SOLUTION
        super().__init__()
        self.group, self.input_is_parallel = group, input_is_parallel
        self.weight = nn.Parameter(_own(weight, 1, group))
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone())
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        own = x if self.input_is_parallel else _SplitFeatures.apply(x, self.group)
        out = _ReduceFromRanks.apply(functional.linear(own, self.weight), self.group)
        return out if self.bias is None else out + self.bias
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.ParallelMLP", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
        ### BEGIN SOLUTION
        super().__init__()
        self.up = ColumnParallelLinear(up, up_bias, group)
        self.down = RowParallelLinear(down, down_bias, group)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        out: Tensor = self.down(functional.gelu(self.up(x)))
        return out
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.ParallelAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
        ### BEGIN SOLUTION
        super().__init__()
        ranks = dist.get_world_size(group)
        if heads < ranks:
            raise ValueError(f"{heads} heads cannot be cut over {ranks} ranks: every rank needs one")
        self.group, self.head_dim = group, len(query) // heads

        def own_heads(rows: Tensor) -> nn.Parameter:
            return nn.Parameter(_own(rows.unflatten(0, (heads, -1)), 0, group).flatten(0, 1))

        self.query, self.key, self.value = own_heads(query), own_heads(key), own_heads(value)
        self.output = nn.Parameter(_own(output.unflatten(1, (heads, -1)), 1, group).flatten(1))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        x = _CopyToRanks.apply(x, self.group)
        q, k, v = (
            functional.linear(x, rows).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for rows in (self.query, self.key, self.value)
        )
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        partial = functional.linear(heads.transpose(1, 2).flatten(2), self.output)
        out: Tensor = _ReduceFromRanks.apply(partial, self.group)
        return out
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.SequenceColumnParallelLinear", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
        ### BEGIN SOLUTION
        super().__init__()
        self.group = group
        self.weight = nn.Parameter(_own(weight, 0, group))
        self.bias = None if bias is None else nn.Parameter(_own(bias, 0, group))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        return functional.linear(_GatherTokens.apply(x, self.group), self.weight, self.bias)
        ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "sharding.SequenceRowParallelLinear", "locked": false, "schema_version": 3, "solution": true, "task": false}
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
        ### BEGIN SOLUTION
        super().__init__()
        self.group = group
        self.weight = nn.Parameter(_own(weight, 1, group))
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone())
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        tokens, ranks = x.shape[-2], dist.get_world_size(self.group)
        if tokens % ranks:
            raise ValueError(f"{tokens} tokens cannot be cut into {ranks} equal parts")
        out = _ScatterTokens.apply(functional.linear(x, self.weight), self.group)
        return out if self.bias is None else out + self.bias
        ### END SOLUTION
