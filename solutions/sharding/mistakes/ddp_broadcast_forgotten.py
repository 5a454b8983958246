"""Every rank keeps the model that it drew."""

import torch.distributed as dist
from torch import nn

EXERCISE = "naive_ddp"
HINT = (
    "After your broadcast_parameters each rank still holds its own random numbers. Ranks that average "
    "gradients of different models train none of them."
)
FAILS = (
    "test_rank_0_gives_all_its_model",
    "test_any_model_of_rank_0",
)
SYMPTOMS = ("parameters_stay",)


def broadcast_parameters(model: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    return
