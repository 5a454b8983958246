"""All forward steps run first, whatever the schedule says."""

from collections.abc import Callable, Sequence
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

from ._stages import run

EXERCISE = "run_pipeline"
HINT = (
    "Your stage runs all forward steps and then all backward steps, whatever the schedule says. In 1F1B "
    "that keeps more activations alive than the schedule promises."
)
FAILS = (
    "test_one_forward_one_backward",
    "test_any_one_forward_one_backward",
)
SYMPTOMS = ("schedule_ignored",)


def run_pipeline(
    stage: nn.Module,
    schedule: Sequence[Any],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    input_shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> float | None:
    return run(stage, schedule, inputs, targets, loss, input_shape, group, "schedule_ignored")
