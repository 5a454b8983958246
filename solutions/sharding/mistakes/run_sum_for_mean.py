"""The losses of the micro-batches are added up."""

from collections.abc import Callable, Sequence
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

from ._stages import run

EXERCISE = "run_pipeline"
HINT = (
    "Your gradient is the sum over the micro-batches. The step wants their mean: divide each loss by the "
    "number of micro-batches."
)
FAILS = (
    "test_gpipe_gives_the_gradients_of_the_whole_model",
    "test_one_forward_one_backward",
    "test_one_stage_and_one_example",
    "test_any_pipeline_of_gpipe",
    "test_any_one_forward_one_backward",
)
SYMPTOMS = ("sum_for_mean",)


def run_pipeline(
    stage: nn.Module,
    schedule: Sequence[Any],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    input_shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> float | None:
    return run(stage, schedule, inputs, targets, loss, input_shape, group, "sum_for_mean")
