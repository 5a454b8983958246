"""Frozen parameters are not broadcast."""

import torch.distributed as dist
from torch import nn

EXERCISE = "naive_ddp"
HINT = (
    "Parameters that need no gradient stay as they were on your ranks. Nobody trains them, and so nobody "
    "will ever make them alike."
)
FAILS = (
    "test_rank_0_gives_all_its_model",
    "test_any_model_of_rank_0",
)
SYMPTOMS = ("frozen_stay",)


def broadcast_parameters(model: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    for each in (*model.parameters(), *model.buffers()):
        if each.requires_grad or not isinstance(each, nn.Parameter):
            dist.broadcast(each.detach(), group=group, group_src=0)
