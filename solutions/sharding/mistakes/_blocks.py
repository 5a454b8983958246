"""FullySharded of the solution with a switch for each usual mistake: no mistake by itself."""

from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, shard: Tensor, owner: "Faulty") -> Tensor:
        ctx.owner = owner
        ctx.save_for_backward(x, shard)
        whole = owner.gather(shard)
        if owner.fault in ("gathered_once", "never_freed"):
            ctx.whole = whole
        return owner.run(x, whole)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, Tensor, None]:
        saved_x, shard = ctx.saved_tensors
        owner: Faulty = ctx.owner
        x = saved_x.detach().requires_grad_(ctx.needs_input_grad[0])
        whole = ctx.whole if owner.fault == "gathered_once" else owner.gather(shard)
        whole.requires_grad_()
        with torch.enable_grad():
            output = owner.run(x, whole)
        output.backward(grad_output)
        return None if owner.fault == "gradient_ends" else x.grad, owner.reduced(whole.grad), None


class Faulty(nn.Module):
    fault = ""

    def __init__(self, block: nn.Module, group: dist.ProcessGroup | None = None) -> None:
        super().__init__()
        self._block = [block]
        self._group = group
        self._ranks, self._rank = dist.get_world_size(group), dist.get_rank(group)
        self._shapes = {name: each.shape for name, each in block.named_parameters()}
        elements = sum(each.numel() for each in block.parameters())
        self._part = -(-elements // self._ranks)
        if self.fault == "remainder_dropped":
            self._part = elements // self._ranks
        flat = torch.cat([each.detach().flatten() for each in block.parameters()])
        whole = nn.functional.pad(flat, (0, max(0, self._ranks * self._part - elements)))
        if self.fault != "not_broadcast":
            dist.broadcast(whole, group=group, group_src=0)
        first = self._rank * self._part
        self.shard = nn.Parameter(whole[first : first + self._part].clone())
        if self.fault != "block_kept":
            for each in block.parameters():
                each.data = each.new_empty(0)

    def forward(self, x: Tensor) -> Tensor:
        return _Gathered.apply(x, self.shard, self)

    def gather(self, shard: Tensor) -> Tensor:
        whole = torch.empty(self._ranks * self._part)
        if self.fault == "by_parameter":
            # As if every parameter were cut by itself: so many all_gathers, of so many elements.
            parts = list(whole.split(self._part))
            pieces = len(self._shapes)
            bounds = [self._part * i // pieces for i in range(pieces + 1)]
            for start, end in pairwise(bounds):
                dist.all_gather(
                    [part[start:end] for part in parts], shard.detach()[start:end], group=self._group
                )
            return whole
        dist.all_gather(list(whole.split(self._part)), shard.detach(), group=self._group)
        return whole

    def run(self, x: Tensor, whole: Tensor) -> Tensor:
        sizes = [shape.numel() for shape in self._shapes.values()]
        padded = nn.functional.pad(whole, (0, max(0, sum(sizes) - whole.numel())))
        parts = padded.split([*sizes, padded.numel() - sum(sizes)])
        named = {
            name: part.view(shape) for (name, shape), part in zip(self._shapes.items(), parts, strict=False)
        }
        return torch.func.functional_call(self._block[0], named, (x,))

    def reduced(self, gradient: Tensor) -> Tensor:
        parts = list(gradient.split(self._part))
        if self.fault == "own_gradient":
            return parts[self._rank].clone()
        if self.fault == "all_reduce":
            dist.all_reduce(gradient, group=self._group)
            return parts[self._rank] / self._ranks
        mean = torch.empty(self._part)
        dist.reduce_scatter(mean, parts, group=self._group)
        return mean if self.fault == "sum_for_mean" else mean / self._ranks
