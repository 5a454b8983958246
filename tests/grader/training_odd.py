"""Odd answers to the exercises of training: none of them is right, and none may upset the grader."""

import time
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def broadcast_parameters(model: nn.Module, group: Any = None) -> None:
    """Other parameters than the ones that were there, in another format."""
    for name in list(dict(model.named_parameters())):
        setattr(model, name, nn.Parameter(torch.zeros(1, dtype=torch.float64)))


def naive_ddp(model: nn.Module, loss_sum: Any, micro_batches: Any, group: Any = None) -> Any:
    """NaN everywhere, and something returned."""
    for each in model.parameters():
        each.grad = torch.full_like(each, torch.nan)
    return object()


class DistributedDataParallel(nn.Module):
    """Communicates with nobody, and forgets its gradients."""

    def __init__(self, module: nn.Module, group: Any = None, bucket_bytes: int = -1) -> None:
        super().__init__()
        for each in module.parameters():
            dist.broadcast(each.detach(), 0, group=group)
        self.module = module
        self.no_sync = nullcontext

    def forward(self, x: Tensor) -> Tensor:
        return self.module(x)

    def finish_gradient_synchronization(self) -> None:
        for each in self.module.parameters():
            each.grad = None


class ShardedOptimizer:
    """Lists for tensors."""

    def __init__(self, params: Any, **_: Any) -> None:
        self.params = list(params)

    def step(self) -> None:
        for each in self.params:
            each.data = torch.tensor([1.0])

    def zero_grad(self) -> str:
        return "done"


class FullySharded(nn.Module):
    """A shard of the wrong kind and shape, and a block that nobody cuts."""

    def __init__(self, block: nn.Module, group: Any = None) -> None:
        super().__init__()
        self.block = block
        self.shard = nn.Parameter(torch.zeros(2, 3, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.block(x) + self.shard.sum().float()


def run_pipeline(*args: Any, group: Any = None, **kwargs: Any) -> Any:
    """Stays for ever."""
    while True:
        time.sleep(0.1)
