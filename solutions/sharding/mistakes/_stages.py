"""run_pipeline of the solution with a switch for each usual mistake: no mistake by itself."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def run(
    stage: nn.Module,
    schedule: Sequence[Any],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    input_shape: Sequence[int],
    group: dist.ProcessGroup | None,
    fault: str,
) -> float | None:
    rank, last = dist.get_rank(group), dist.get_world_size(group) - 1
    own = [step for step in schedule if step[1] == rank]
    if fault != "list_order":
        own.sort()
    if fault == "schedule_ignored":
        own.sort(key=lambda step: (step[3] != "F", step[2]))
    alive: dict[int, Any] = {}
    sent: list[Any] = []
    losses = []

    def send(message: Tensor, to: int) -> None:
        if fault == "blocking":
            dist.send(message, group=group, group_dst=to)
        else:
            sent.append((dist.isend(message, group=group, group_dst=to), message))

    for _, _, micro_batch, direction in own:
        place = 0 if fault == "latest_activation" else micro_batch
        if direction == "F":
            x = inputs[micro_batch]
            if rank > 0:
                x = torch.empty(tuple(input_shape))
                dist.recv(x, group=group, group_src=rank - 1)
                x.requires_grad_()
            y = stage(x)
            if rank == last:
                y = loss(y, targets[micro_batch])
                losses.append(float(y) / len(inputs))
                y = y if fault == "sum_for_mean" else y / len(inputs)
            else:
                send(y.detach().contiguous(), rank + 1)
            alive[place] = x, y
            continue
        x, y = alive[place]
        gradient = None
        if rank != last:
            gradient = torch.empty_like(y)
            dist.recv(gradient, group=group, group_src=rank + 1)
        if fault == "last_only":
            stage.zero_grad()
        before = [None if each.grad is None else each.grad.clone() for each in stage.parameters()]
        if x.requires_grad:
            x.grad = None
        y.backward(gradient, retain_graph=fault == "latest_activation")
        if fault == "first_only" and micro_batch:
            for each, old in zip(stage.parameters(), before, strict=True):
                each.grad = old
        if rank > 0:
            send(x.grad.contiguous(), rank - 1)
    for work, _ in sent:
        work.wait()
    return sum(losses) if rank == last else None
