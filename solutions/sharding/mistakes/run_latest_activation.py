"""A stage keeps only the activations of the last forward step."""

from collections.abc import Callable, Sequence
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

from ._stages import run

EXERCISE = "run_pipeline"
HINT = (
    "Several micro-batches are on their way at once, and you keep the activations of the latest only. "
    "Keep them by micro-batch until its backward step."
)
FAILS = (
    "test_gpipe_gives_the_gradients_of_the_whole_model",
    "test_one_forward_one_backward",
    "test_one_stage_and_one_example",
    "test_any_pipeline_of_gpipe",
    "test_any_one_forward_one_backward",
)
SYMPTOMS = ("activations_mixed",)


def run_pipeline(
    stage: nn.Module,
    schedule: Sequence[Any],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    input_shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> float | None:
    return run(stage, schedule, inputs, targets, loss, input_shape, group, "latest_activation")
