"""Gradients are cleared before every backward."""

from collections.abc import Callable, Sequence
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

from ._stages import run

EXERCISE = "run_pipeline"
HINT = (
    "Only the last micro-batch is in your gradient: something clears or replaces .grad before a backward "
    "step."
)
FAILS = (
    "test_gpipe_gives_the_gradients_of_the_whole_model",
    "test_one_forward_one_backward",
    "test_one_stage_and_one_example",
    "test_any_pipeline_of_gpipe",
    "test_any_one_forward_one_backward",
)
SYMPTOMS = ("last_micro_batch_only",)


def run_pipeline(
    stage: nn.Module,
    schedule: Sequence[Any],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    input_shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> float | None:
    return run(stage, schedule, inputs, targets, loss, input_shape, group, "last_only")
