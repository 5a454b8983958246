"""Runs a student's `run_pipeline`: a small network, some layers of it on each rank."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from ..phases import mark
from .networks import Network, squared_error_mean


def run(
    student: Callable[..., Any],
    group: Any,
    weights: Sequence[Tensor],
    *,
    schedule: Sequence[Any],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
) -> dict[str, Any]:
    """One step.

    Args:
        student: `run_pipeline`.
        group: the ranks.
        weights: of this rank's stage, a layer each.
        schedule: of all stages.
        inputs, targets: of each micro-batch, the same on all ranks.

    Returns:
        loss: what the function returned.
        gradients: of the stage's weights.
    """
    stage = Network(weights)
    shape = (len(inputs[0]), weights[0].shape[0])
    mark("step")
    steps = [tuple(each) for each in schedule]
    loss = student(stage, steps, list(inputs), list(targets), squared_error_mean, shape, group=group)
    mark("")
    return {"loss": loss, "gradients": stage.gradients()}
