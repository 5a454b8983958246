"""ShardedOptimizer of the solution with a switch for each usual mistake: no mistake by itself."""

from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


class Faulty:
    fault = ""

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        given = list(params)
        self._params = given if self.fault == "tied_twice" else list(dict.fromkeys(given))
        self._lr, self._betas, self._eps, self._weight_decay = lr, betas, eps, weight_decay
        self._group, self._steps = group, 0
        self._ranks, self._rank = dist.get_world_size(group), dist.get_rank(group)
        elements = sum(each.numel() for each in self._params)
        self._part = -(-elements // self._ranks)
        if self.fault == "remainder_dropped":
            self._part = max(1, elements // self._ranks)
        self._whole = max(self._ranks * self._part, elements)
        kept = self._whole if self.fault == "whole_state" else len(self._owned(self._rank))
        self._moments = (torch.zeros(kept), torch.zeros(kept))

    def _owned(self, rank: int) -> Tensor:
        """Indices of the elements that a rank owns."""
        if self.fault == "by_parameter":
            sizes = [each.numel() for each in self._params]
            starts = torch.tensor([0, *sizes]).cumsum(0).tolist()
            places = range(rank, len(sizes), self._ranks)
            return torch.cat([torch.arange(0), *(torch.arange(starts[i], starts[i + 1]) for i in places)])
        return torch.arange(rank * self._part, (rank + 1) * self._part)

    def step(self) -> None:
        self._steps += 1
        beta1, beta2 = self._betas
        lr, decay = self._lr, self._weight_decay
        gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in self._params]
        gradient, whole = self._flat(gradients), self._flat(self._params)
        own = torch.arange(self._whole) if self.fault == "whole_state" else self._owned(self._rank)
        g, p = gradient[own], whole[own]
        if self.fault == "l2_decay":
            g = g + decay * p
        first, second = self._moments
        first.mul_(beta1).add_(g, alpha=1 - beta1)
        second.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        corrected = self.fault != "no_bias_correction"
        mean = first / (1 - beta1**self._steps) if corrected else first
        square = second / (1 - beta2**self._steps) if corrected else second
        root = (square + self._eps).sqrt() if self.fault == "eps_inside" else square.sqrt() + self._eps
        if self.fault not in ("l2_decay", "no_decay"):
            p = p * (1 - lr * decay)
        updated = p - lr * mean / root
        self._share(whole, own, updated)
        start = 0
        for each in self._params:
            each.detach().copy_(whole[start : start + each.numel()].view_as(each))
            start += each.numel()

    def _share(self, whole: Tensor, own: Tensor, updated: Tensor) -> None:
        if self.fault in ("whole_state", "not_shared"):
            whole[own] = updated
        elif self.fault == "all_reduced":
            whole.zero_()
            whole[own] = updated
            dist.all_reduce(whole, group=self._group)
        elif self.fault == "by_parameter":
            for rank in range(self._ranks):
                places = self._owned(rank)
                message = updated if rank == self._rank else torch.empty(len(places))
                dist.broadcast(message, group=self._group, group_src=rank)
                whole[places] = message
        else:
            shared = whole[: self._ranks * self._part]
            dist.all_gather(list(shared.split(self._part)), updated, group=self._group)

    def _flat(self, tensors: Iterable[Tensor]) -> Tensor:
        vector = torch.cat([each.detach().flatten() for each in tensors])
        return nn.functional.pad(vector, (0, self._whole - vector.numel()))

    def zero_grad(self) -> None:
        for each in self._params:
            each.grad = None
