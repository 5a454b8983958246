"""Right answers to the exercises of layers on ranks by other routes than the solution's: each of them must pass."""

import math
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def starts(whole: int, ranks: int) -> list[int]:
    small, larger = divmod(whole, ranks)
    return [rank * small + min(rank, larger) for rank in range(ranks + 1)]


def own(tensor: Tensor, dim: int, group: Any) -> Tensor:
    rank, places = dist.get_rank(group), starts(tensor.shape[dim], dist.get_world_size(group))
    return tensor.narrow(dim, places[rank], places[rank + 1] - places[rank])


def uneven(part: Tensor, whole: int, group: Any) -> Tensor:
    """All parts of the last dimension, by an all-gather of unequal sizes."""
    places = starts(whole, dist.get_world_size(group))
    sizes = [after - before for before, after in pairwise(places)]
    parts = [part.new_empty(*part.shape[:-1], size) for size in sizes]
    dist.all_gather(parts, part.contiguous(), group=group)
    return torch.cat(parts, -1)


class Sum(torch.autograd.Function):
    """All-reduce in the background, waited for at once."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Any) -> Tensor:
        total = x.clone()
        dist.all_reduce(total, group=group, async_op=True).wait()
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad, None


class Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, whole: int, group: Any) -> Tensor:
        ctx.group = group
        return uneven(x, whole, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return own(grad, -1, ctx.group), None, None


def summed_on_the_way_back(x: Tensor, group: Any) -> Tensor:
    """f as a hook on the gradient, without a Function."""

    def total(grad: Tensor) -> Tensor:
        whole = grad.clone()
        dist.all_reduce(whole, group=group)
        return whole

    if not x.requires_grad:
        return x
    copy = x * 1.0
    copy.register_hook(total)
    return copy


class ColumnParallelLinear(nn.Module):
    def __init__(
        self, weight: Tensor, bias: Any = None, group: Any = None, gather_output: bool = False
    ) -> None:
        super().__init__()
        self.register_parameter("weight", nn.Parameter(own(weight, 0, group).clone()))
        self.register_parameter("bias", None if bias is None else nn.Parameter(own(bias, 0, group).clone()))
        self.rest = (len(weight), group, gather_output)

    def forward(self, x: Tensor) -> Tensor:
        whole, group, gather = self.rest
        out = summed_on_the_way_back(x, group) @ self.weight.T
        out = out if self.bias is None else out + self.bias
        return Gathered.apply(out, whole, group) if gather else out


class Row(torch.autograd.Function):
    """The whole layer as one Function, its gradients written out."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, group: Any, is_cut: bool) -> Tensor:
        mine = x if is_cut else own(x, -1, group)
        ctx.save_for_backward(mine, weight)
        ctx.rest = (group, is_cut, x.shape[-1])
        out = mine @ weight.T
        dist.all_reduce(out, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        mine, weight = ctx.saved_tensors
        group, is_cut, whole = ctx.rest
        of_x = grad @ weight
        of_weight = grad.flatten(0, -2).T @ mine.flatten(0, -2)
        return of_x if is_cut else uneven(of_x, whole, group), of_weight, None, None


class RowParallelLinear(nn.Module):
    def __init__(
        self, weight: Tensor, bias: Any = None, group: Any = None, input_is_parallel: bool = True
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(own(weight, 1, group).clone())
        self.bias = nn.Parameter(bias.clone()) if bias is not None else None
        self.rest = (group, input_is_parallel)

    def forward(self, x: Tensor) -> Tensor:
        out = Row.apply(x, self.weight, *self.rest)
        return out if self.bias is None else out + self.bias


class ParallelAttention(nn.Module):
    """Head by head."""

    def __init__(
        self, query: Tensor, key: Tensor, value: Tensor, output: Tensor, heads: int, group: Any = None
    ) -> None:
        super().__init__()
        if heads < dist.get_world_size(group):
            raise ValueError("more ranks than heads")
        width = len(query) // heads
        mine = own(torch.arange(heads), 0, group)
        rows = (mine[:, None] * width + torch.arange(width)).flatten()
        self.query, self.key, self.value = (nn.Parameter(each[rows]) for each in (query, key, value))
        self.output = nn.Parameter(output[:, rows])
        self.width, self.group = width, group

    def forward(self, x: Tensor) -> Tensor:
        x = summed_on_the_way_back(x, self.group)
        mask = torch.full((x.shape[1], x.shape[1]), -math.inf).triu(1)
        total: Any = 0.0
        for start in range(0, len(self.query), self.width):
            rows = slice(start, start + self.width)
            q, k, v = (
                torch.einsum("bth,dh->btd", x, each[rows]) for each in (self.query, self.key, self.value)
            )
            weights = torch.softmax(torch.einsum("bqd,bkd->bqk", q, k) / self.width**0.5 + mask, -1)
            total = total + torch.einsum("bqk,bkd,hd->bqh", weights, v, self.output[:, rows])
        return Sum.apply(total, self.group)


class SequenceColumnParallelLinear(nn.Module):
    """Gathers x again on the way back, as Megatron does, instead of keeping it."""

    def __init__(self, weight: Tensor, bias: Any = None, group: Any = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(own(weight, 0, group).clone())
        self.bias = nn.Parameter(own(bias, 0, group).clone()) if bias is not None else None
        self.group = group

    def forward(self, x: Tensor) -> Tensor:
        out = In.apply(x, self.weight, self.group)
        return out if self.bias is None else out + self.bias


def all_tokens(x: Tensor, group: Any) -> Tensor:
    first = x.movedim(-2, 0).contiguous()
    whole = first.new_empty(len(first) * dist.get_world_size(group), *first.shape[1:])
    dist.all_gather_into_tensor(whole, first, group=group)
    return whole.movedim(0, -2)


class In(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, group: Any) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.group = group
        return all_tokens(x, group) @ weight.T

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight = ctx.saved_tensors
        of_x = (grad @ weight).movedim(-2, 0).contiguous()
        mine = of_x.new_empty(len(of_x) // dist.get_world_size(ctx.group), *of_x.shape[1:])
        work = dist.reduce_scatter_tensor(mine, of_x, group=ctx.group, async_op=True)
        of_weight = grad.flatten(0, -2).T @ all_tokens(x, ctx.group).flatten(0, -2)
        work.wait()
        return mine.movedim(0, -2), of_weight, None


def ring_attention(
    q: Tensor, k: Tensor, v: Tensor, tokens: int, group: Any = None, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """The other way round, K and V apart, a running maximum and sum, and products of whole blocks or halves."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    own_at, q32 = held(tokens, ranks, rank, causal), q.float()
    top = q32.new_full(q.shape[:-1], -math.inf)
    total, mixed = torch.zeros_like(top), torch.zeros_like(q32)
    front = len(torch.arange(tokens).tensor_split(2 * ranks)[rank]) if causal else 0
    for hop in range(ranks):
        holder = (rank + hop) % ranks
        at = held(tokens, ranks, holder, causal)
        rows, columns = slice(None), slice(None)
        if causal and holder < rank:
            columns = slice(0, len(torch.arange(tokens).tensor_split(2 * ranks)[holder]))
        elif causal and holder > rank:
            rows = slice(front, None)
        scores = q32[..., rows, :] @ k[..., columns, :].float().mT / math.sqrt(q.shape[-1])
        if causal and holder == rank:
            scores = scores.masked_fill(at > own_at[:, None], -math.inf)
        grown = torch.maximum(top[..., rows], scores.amax(-1))
        weights, old = torch.exp(scores - grown[..., None]), torch.exp(top[..., rows] - grown)
        total[..., rows] = total[..., rows] * old + weights.sum(-1)
        mixed[..., rows, :] = mixed[..., rows, :] * old[..., None] + weights @ v[..., columns, :].float()
        top[..., rows] = grown
        if hop < ranks - 1:
            length = len(held(tokens, ranks, (holder + 1) % ranks, causal))
            k, v = (passed_back(each, length, rank, ranks, group) for each in (k, v))
    return (mixed / total[..., None]).to(q.dtype), top + torch.log(total)


def passed_back(block: Tensor, length: int, rank: int, ranks: int, group: Any) -> Tensor:
    """Blocking calls in an order in which no circle waits: even ranks send first."""
    block = block.contiguous()
    came = block.new_empty(*block.shape[:-2], length, block.shape[-1])
    work = dist.isend(block, (rank - 1) % ranks, group=group)
    dist.recv(came, (rank + 1) % ranks, group=group)
    if work is not None:
        work.wait()
    return came


def held(tokens: int, ranks: int, rank: int, causal: bool) -> Tensor:
    return zigzag_positions(tokens, ranks, rank) if causal else torch.arange(tokens).tensor_split(ranks)[rank]


def zigzag_positions(tokens: int, ranks: int, rank: int) -> Tensor:
    places = starts(tokens, 2 * ranks)
    other = 2 * ranks - 1 - rank
    return torch.tensor(
        [*range(places[rank], places[rank + 1]), *range(places[other], places[other + 1])], dtype=torch.int64
    )
