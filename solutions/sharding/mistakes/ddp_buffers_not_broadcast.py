"""Only parameters are broadcast."""

import torch.distributed as dist
from torch import nn

EXERCISE = "naive_ddp"
HINT = "Buffers stay as they were on your ranks. They are a part of the model too: model.buffers()."
FAILS = (
    "test_rank_0_gives_all_its_model",
    "test_any_model_of_rank_0",
)
SYMPTOMS = ("buffers_stay",)


def broadcast_parameters(model: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    for each in model.parameters():
        dist.broadcast(each.detach(), group=group, group_src=0)
