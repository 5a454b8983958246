"""Runs a student's `naive_ddp` on a small network."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from .networks import Network, squared_error_sum


def run(
    student: Callable[..., Any],
    group: Any,
    micro_batches: Sequence[tuple[Tensor, Tensor]],
    runs: Sequence[int] | None = None,
    *,
    weights: Sequence[Tensor],
    layers: Sequence[int] | None = None,
    frozen: Sequence[int] = (),
) -> dict[str, Any]:
    """One step.

    Args:
        student: `naive_ddp`.
        group: the ranks.
        micro_batches: (inputs, targets) of this rank.
        runs: the layers that this rank uses, all by default.
        weights, layers, frozen: as `Network` takes them, the same on all ranks.

    Returns:
        gradients: by the index of the weight; None where there is none.
        unchanged: whether the parameters have the values of before.
    """
    network = Network(weights, layers, frozen)
    if runs is not None:
        network.runs = runs
    student(network, squared_error_sum, [tuple(each) for each in micro_batches], group=group)
    unchanged = all(bool((now == then).all()) for now, then in zip(network.values(), weights, strict=True))
    return {"gradients": network.gradients(), "unchanged": unchanged}
