"""naive_ddp of the solution with a switch for each usual mistake: no mistake by itself."""

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn


def step(
    model: nn.Module,
    loss_sum: Callable[[Tensor, Tensor], Tensor],
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    group: dist.ProcessGroup | None,
    fault: str = "",
) -> None:
    parameters = [each for each in model.parameters() if each.requires_grad]
    own = sum(len(inputs) for inputs, _ in micro_batches)
    total: Tensor | None = None
    for inputs, targets in micro_batches:
        if fault == "last_micro_batch_only":
            model.zero_grad()
        loss_sum(model(inputs), targets).backward()
        if fault == "one_for_each_micro_batch":
            flat = _summed(parameters, len(inputs), group)
            total = flat if total is None else total + flat
            model.zero_grad()
    if fault == "one_for_each_micro_batch":
        assert total is not None
        _hand_out(total, parameters)
        return
    if fault == "left_out":
        parameters = [each for each in parameters if each.grad is not None]
    if fault == "one_for_each_parameter":
        examples = torch.tensor([float(own)])
        for index, each in enumerate(parameters):
            gradient = torch.zeros_like(each) if each.grad is None else each.grad
            message = torch.cat([gradient.flatten(), examples]) if index == 0 else gradient
            dist.all_reduce(message, group=group)
            if index == 0:
                count, message = message[-1], message[:-1]
            each.grad = message.view_as(each) / count
        return
    if fault == "mean_of_means":
        for each in parameters:
            each.grad = None if each.grad is None else each.grad / max(own, 1)
    flat = _summed(parameters, own, group)
    if fault == "sum_for_mean":
        flat[-1] = 1
    if fault in ("mean_of_means", "divided_by_ranks_only"):
        flat[-1] = dist.get_world_size(group)
    _hand_out(flat, parameters)


def _summed(parameters: Sequence[Tensor], examples: int, group: dist.ProcessGroup | None) -> Tensor:
    """All gradients and the number of examples, over all ranks."""
    gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    flat = torch.cat([*(each.detach().flatten() for each in gradients), torch.tensor([float(examples)])])
    dist.all_reduce(flat, group=group)
    return flat


def _hand_out(flat: Tensor, parameters: Sequence[Tensor]) -> None:
    mean = flat[:-1] / flat[-1]
    for each, part in zip(parameters, mean.split([each.numel() for each in parameters]), strict=True):
        each.grad = part.view_as(each)
