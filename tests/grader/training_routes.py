"""Right answers to the exercises of training by other routes than the solution's: each of them must pass."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class DistributedDataParallel(nn.Module):
    """Gradients are views of buckets that live for ever, and a parameter is divided before it is sent."""

    def __init__(self, module: nn.Module, group: Any = None, bucket_bytes: int = 1 << 20) -> None:
        super().__init__()
        self.module, self.group, self.quiet = module, group, False
        with torch.no_grad():
            for each in [*module.parameters(), *module.buffers()]:
                dist.broadcast(each, 0, group=group)
        self.buckets: list[dict[str, Any]] = []
        filled = bucket_bytes + 1
        for each in reversed([p for p in module.parameters() if p.requires_grad]):
            if filled + each.nbytes > bucket_bytes:
                self.buckets.append({"parameters": []})
                filled = 0
            self.buckets[-1]["parameters"].append(each)
            filled += each.nbytes
        self.number = {p: i for i, bucket in enumerate(self.buckets) for p in bucket["parameters"]}
        for bucket in self.buckets:
            bucket["flat"] = torch.zeros(sum(p.numel() for p in bucket["parameters"]))
        self.begin()
        for each in self.number:
            each.register_post_accumulate_grad_hook(self.hook)

    def begin(self) -> None:
        self.missing = [len(bucket["parameters"]) for bucket in self.buckets]
        self.works: list[Any] = []

    def forward(self, *args: Any) -> Any:
        return self.module(*args)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        self.quiet = True
        yield
        self.quiet = False

    def hook(self, parameter: Tensor) -> None:
        if self.quiet:
            return
        self.missing[self.number[parameter]] -= 1
        while len(self.works) < len(self.buckets) and not self.missing[len(self.works)]:
            self.send()

    def send(self) -> None:
        bucket = self.buckets[len(self.works)]
        parts = bucket["flat"].split([p.numel() for p in bucket["parameters"]])
        for p, part in zip(bucket["parameters"], parts, strict=True):
            part.copy_(p.grad.flatten() if p.grad is not None else torch.zeros(p.numel()))
            p.grad = part.view_as(p)
        bucket["flat"] /= dist.get_world_size(self.group)
        self.works.append(dist.all_reduce(bucket["flat"], group=self.group, async_op=True))

    def finish_gradient_synchronization(self) -> None:
        while len(self.works) < len(self.buckets):
            self.send()
        for work in self.works:
            work.wait()
        self.begin()


class ShardedOptimizer:
    """Each owner broadcasts its slice, and there is no padding anywhere."""

    def __init__(
        self, params: Any, lr: float, betas: Any, eps: float, weight_decay: float, group: Any = None
    ) -> None:
        self.params, seen = [], set()
        for p in params:
            if id(p) not in seen:
                seen.add(id(p))
                self.params.append(p)
        self.lr, self.betas, self.eps, self.decay, self.group, self.t = lr, betas, eps, weight_decay, group, 0
        n = dist.get_world_size(group)
        total = sum(p.numel() for p in self.params)
        size = (total + n - 1) // n
        self.bounds = [(min(r * size, total), min((r + 1) * size, total)) for r in range(n)]
        start, end = self.bounds[dist.get_rank(group)]
        self.m, self.v = torch.zeros(end - start), torch.zeros(end - start)

    @torch.no_grad()
    def step(self) -> None:
        self.t += 1
        b1, b2 = self.betas
        flat = torch.cat([p.flatten() for p in self.params])
        grads = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in self.params]
        )
        start, end = self.bounds[dist.get_rank(self.group)]
        g, p = grads[start:end], flat[start:end]
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g * g
        m_hat, v_hat = self.m / (1 - b1**self.t), self.v / (1 - b2**self.t)
        p -= self.lr * (m_hat / (torch.sqrt(v_hat) + self.eps) + self.decay * p)
        for rank, (first, last) in enumerate(self.bounds):
            if last > first:
                dist.broadcast(flat[first:last], rank, group=self.group)
        for p, part in zip(self.params, flat.split([p.numel() for p in self.params]), strict=True):
            p.copy_(part.view_as(p))

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None


class _Around(torch.autograd.Function):
    """The identity, which calls something in backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, call: Any) -> Tensor:
        ctx.call = call
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        ctx.call()
        return grad, None


class FullySharded(nn.Module):
    """The other way: the block runs once, on views of a storage that is emptied and filled again."""

    def __init__(self, block: nn.Module, group: Any = None) -> None:
        super().__init__()
        object.__setattr__(self, "block", block)
        self.group, self.n = group, dist.get_world_size(group)
        parameters = list(block.parameters())
        self.total = sum(p.numel() for p in parameters)
        self.size = (self.total + self.n - 1) // self.n
        flat = torch.zeros(self.n * self.size)
        flat[: self.total] = torch.cat([p.detach().flatten() for p in parameters])
        dist.broadcast(flat, 0, group=group)
        rank = dist.get_rank(group)
        self.shard = nn.Parameter(flat[rank * self.size : (rank + 1) * self.size].clone())
        object.__setattr__(self, "whole", flat)
        start = 0
        for p in parameters:
            p.data = flat[start : start + p.numel()].view_as(p)
            start += p.numel()
        self.empty()

    def empty(self) -> None:
        self.whole.untyped_storage().resize_(0)

    def fill(self) -> None:
        self.whole.untyped_storage().resize_(4 * self.n * self.size)
        # Behind autograd's back, which would say that a saved tensor has changed: the values are those of forward.
        with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(self.whole):
            dist.all_gather(list(self.whole.split(self.size)), self.shard.detach(), group=self.group)

    def reduce(self) -> None:
        flat = torch.zeros(self.n * self.size)
        start = 0
        for p in self.block.parameters():
            if p.grad is not None:
                flat[start : start + p.numel()] = p.grad.flatten()
            start += p.numel()
            p.grad = None
        self.empty()
        mean = torch.empty(self.size)
        dist.reduce_scatter(mean, list(flat.split(self.size)), group=self.group)
        self.shard.grad = mean / self.n

    def forward(self, x: Tensor) -> Tensor:
        self.fill()
        if not torch.is_grad_enabled():
            y = self.block(x)
            self.empty()
            return y
        x = _Around.apply(x if x.requires_grad else x.clone().requires_grad_(), self.reduce)
        y = self.block(x)
        self.empty()
        return _Around.apply(y, self.fill)


def run_pipeline(
    stage: nn.Module,
    schedule: Any,
    inputs: Any,
    targets: Any,
    loss: Any,
    input_shape: Any,
    group: Any = None,
) -> float | None:
    """All receives are posted ahead, in the order in which their messages come."""
    rank, last = dist.get_rank(group), dist.get_world_size(group) - 1
    steps = sorted((t, m, d) for t, s, m, d in schedule if s == rank)
    arriving: dict[tuple[int, str], Any] = {}
    shape_out = tuple(stage(torch.zeros(tuple(input_shape))).shape)
    for direction, peer, shape in (("F", rank - 1, tuple(input_shape)), ("B", rank + 1, shape_out)):
        if 0 <= peer <= last:
            for _, s, m, d in sorted(schedule):
                if (s, d) == (peer, direction):
                    buffer = torch.empty(shape)
                    arriving[m, direction] = (dist.irecv(buffer, peer, group=group), buffer)
    kept, works, losses = {}, [], []
    for _, m, direction in steps:
        if direction == "F":
            x = inputs[m]
            if rank:
                work, x = arriving[m, "F"]
                work.wait()
                x.requires_grad_(True)
            out = stage(x)
            if rank == last:
                out = loss(out, targets[m])
                losses.append(out.item())
            else:
                works.append(dist.isend(out.detach(), rank + 1, group=group))
            kept[m] = (x, out)
        else:
            x, out = kept.pop(m)
            if rank == last:
                (out / len(targets)).backward()
            else:
                work, gradient = arriving[m, "B"]
                work.wait()
                torch.autograd.backward([out], [gradient])
            if rank:
                works.append(dist.isend(x.grad, rank - 1, group=group))
    for work in works:
        work.wait()
    return sum(losses) / len(losses) if rank == last else None
